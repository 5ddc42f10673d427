package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Error explains why a request to a store failed. It contains no credentials. If the
// cause is fs.ErrPermission or fs.ErrNotExist, somebody has to act before the same
// request can succeed.
type Error struct {
	Problem string
	Hint    string
	Err     error // the cause: of package fs, or errChanged; nil: another
}

// Error returns the problem.
func (e *Error) Error() string { return e.Problem }

// Advice returns a hint at what to do about the problem.
func (e *Error) Advice() string { return e.Hint }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Failure returns the error of a store for the user: "can't write NAME: …" with the
// verb "can't write". It hides a user and password in the name.
func Failure(code int, verb, name string, err error) *console.Failure {
	if at := strings.LastIndexByte(name, '@'); IsURL(name) && at >= 0 {
		name = scheme + "[secret]" + name[at:]
	}
	f := console.Fail(code, "%s: %w", strings.TrimSpace(verb+" "+console.Plain(name, 300)), err)
	if e, ok := errors.AsType[*Error](err); ok {
		f.Hint = e.Hint
	}
	return f
}

// errChanged means that the object is not the expected one, or that one is there already.
var errChanged = errors.New("the object changed")

// answers are the S3 errors that a user can do something about. In a problem, {host} is
// that of the store, {code} the error's and {bucket} the object's.
var answers = []struct {
	codes string // each followed by a space
	Error
}{
	{"NoSuchKey NoSuchVersion NotFound ", Error{Problem: "there is no such object", Err: fs.ErrNotExist,
		Hint: "check its name; all objects of a folder are named with a slash at the end"}},
	{"NoSuchBucket ", Error{Problem: "there is no bucket {bucket} at {host}", Err: fs.ErrNotExist,
		Hint: "check its name, AWS_REGION and AWS_ENDPOINT_URL"}},
	{"InvalidAccessKeyId SignatureDoesNotMatch ExpiredToken InvalidToken TokenRefreshRequired " +
		"AuthorizationHeaderMalformed InvalidTokenId ",
		Error{Problem: "the store at {host} does not accept the credentials: {code}", Err: fs.ErrPermission,
			Hint: "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN or AWS_PROFILE, and AWS_REGION"}},
	{"RequestTimeTooSkewed ", Error{Problem: "the store at {host} refuses the time of this machine: {code}",
		Err: fs.ErrPermission, Hint: "set its clock"}},
	{"AccessDenied AllAccessDisabled Forbidden ", Error{Problem: "the store at {host} refuses access: {code}",
		Err: fs.ErrPermission, Hint: "the credentials need s3:GetObject, s3:PutObject and s3:ListBucket for this bucket"}},
	{"PreconditionFailed ConditionalRequestConflict ", Error{Problem: "the object changed while it was read",
		Err: errChanged, Hint: "run the command again"}},
	{"SlowDown SlowDownRead SlowDownWrite RequestTimeout InternalError ServiceUnavailable ",
		Error{Problem: "the store at {host} is busy: {code}", Hint: "try again later"}},
}

// failure converts an error of minio-go for an object to an Error. It returns nil and
// the error of a canceled context unchanged.
func (c *Client) failure(l Location, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	var answer minio.ErrorResponse
	if !errors.As(err, &answer) || answer.Code == "" { // there was no answer
		e := &Error{Problem: "the store at " + c.endpoint + " does not answer in time",
			Hint: "check that it runs and that AWS_ENDPOINT_URL names it"}
		var slow net.Error
		if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &slow) && slow.Timeout() {
			return e
		}
		if outer, ok := errors.AsType[*url.Error](err); ok {
			err = outer.Err // without the URL
		}
		e.Problem = c.redact("the connection to the store at " + c.endpoint + " failed: " + console.Plain(err.Error(), 200))
		return e
	}
	code := console.Plain(answer.Code, 60)
	for _, a := range answers {
		if strings.Contains(a.codes, answer.Code+" ") {
			e := a.Error
			e.Problem = strings.NewReplacer("{host}", c.endpoint, "{code}", code,
				"{bucket}", console.Quoted(l.Bucket, 80)).Replace(e.Problem)
			return &e
		}
	}
	return &Error{Problem: c.redact(fmt.Sprintf("the store at %s answered %s: %s", c.endpoint, code,
		console.Plain(answer.Message, 200))), Hint: "the manual of the store explains the code"}
}

// redact replaces the credentials in a string that came from the store or from a
// library.
func (c *Client) redact(text string) string {
	for _, secret := range []string{c.secrets.SecretAccessKey, c.secrets.SessionToken, c.secrets.AccessKeyID} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	return text
}
