package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Error explains why a request to a store failed. It contains no credentials.
type Error struct {
	Problem string
	Hint    string
	Err     error // the cause, from package fs or syscall, or errChanged; nil: another cause

	final bool // somebody must act before the request can succeed
}

// Error returns the problem.
func (e *Error) Error() string { return e.Problem }

// Advice returns a hint at what to do about the problem.
func (e *Error) Advice() string { return e.Hint }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// IsPassing reports whether the same request may succeed later without anybody
// acting. It is false for an object that does not exist.
func IsPassing(err error) bool {
	var e *Error
	return errors.As(err, &e) && !e.final && e.Err != fs.ErrNotExist
}

// Cause returns the Error that err wraps, which does not repeat the name of the object,
// or err itself.
func Cause(err error) error {
	if known := (*Error)(nil); errors.As(err, &known) {
		return known
	}
	return err
}

// Advice returns the hint of an error of a store, or "".
func Advice(err error) string {
	if known := (*Error)(nil); errors.As(err, &known) {
		return known.Hint
	}
	return ""
}

// Retry calls do up to tries times, as long as its error may pass.
func Retry(ctx context.Context, tries int, do func() error) (err error) {
	for n := 1; ; n++ {
		if err = do(); n == tries || !IsPassing(err) || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(time.Duration(n) * 300 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

func (c *Client) noBucket(l Location) *Error {
	return &Error{Problem: "there is no bucket " + console.Quoted(l.Bucket, 80) + " at " + c.endpoint, Err: fs.ErrNotExist, final: true,
		Hint: "check its name, AWS_REGION and AWS_ENDPOINT_URL"}
}

// The S3 error codes that a user can do something about. Each code is followed by a
// space.
var (
	badCredentials = "InvalidAccessKeyId SignatureDoesNotMatch ExpiredToken InvalidToken TokenRefreshRequired AuthorizationHeaderMalformed InvalidTokenId "
	badClock       = "RequestTimeTooSkewed "
	forbidden      = "AccessDenied AllAccessDisabled Forbidden "
	missing        = "NoSuchKey NoSuchVersion NotFound "
	busy           = "SlowDown SlowDownRead SlowDownWrite RequestTimeout InternalError ServiceUnavailable "
	changed        = "PreconditionFailed ConditionalRequestConflict "
)

// failure converts an error of minio-go for an object to an Error. It returns an
// Error, and an error because of a canceled context, unchanged.
func (c *Client) failure(l Location, err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	var answer minio.ErrorResponse
	if errors.As(err, &answer) && answer.Code != "" {
		return c.answered(l, &answer)
	}
	return c.unreachable(err)
}

// answered converts an error response of the store to an Error.
func (c *Client) answered(l Location, a *minio.ErrorResponse) error {
	is := func(codes string) bool { return strings.Contains(codes, a.Code+" ") }
	code := console.Plain(a.Code, 60)
	switch {
	case a.Code == "NoSuchBucket":
		return c.noBucket(l)
	case is(missing):
		return &Error{Problem: "there is no such object", Err: fs.ErrNotExist,
			Hint: "check its name; all objects of a folder are named with a slash at the end"}
	case is(badCredentials):
		return &Error{Problem: "the store at " + c.endpoint + " does not accept the credentials: " + code, Err: fs.ErrPermission, final: true,
			Hint: "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN or AWS_PROFILE, and AWS_REGION"}
	case is(badClock):
		return &Error{Problem: "the store at " + c.endpoint + " refuses the time of this machine: " + code, final: true,
			Hint: "set its clock"}
	case is(forbidden):
		return &Error{Problem: "the store at " + c.endpoint + " refuses access: " + code, Err: fs.ErrPermission, final: true,
			Hint: "the credentials need s3:GetObject, s3:PutObject and s3:ListBucket for this bucket"}
	case is(changed):
		return &Error{Problem: "the object changed while it was read", Err: errChanged, final: true, Hint: "run the command again"}
	case is(busy):
		return &Error{Problem: "the store at " + c.endpoint + " is busy: " + code, Hint: "try again later"}
	}
	return &Error{Problem: c.redact("the store at " + c.endpoint + " answered " + code + ": " + console.Plain(a.Message, 200)),
		Hint: "the manual of the store explains the code"}
}

// errChanged means that the object was replaced while it was being read.
var errChanged = errors.New("the object changed")

// unreachable converts the error of a request without a response to an Error.
func (c *Client) unreachable(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // without the URL
	}
	e := &Error{Hint: "check that it runs and that AWS_ENDPOINT_URL names it"}
	var slow net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Problem, e.Err = "nothing listens at "+c.endpoint+": connection refused", syscall.ECONNREFUSED
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &slow) && slow.Timeout():
		e.Problem = "the store at " + c.endpoint + " does not answer in time"
	case isClosed(err):
		e.Problem = "the store at " + c.endpoint + " closed the connection"
	default:
		e.Problem = c.redact("the connection to the store at " + c.endpoint + " failed: " + console.Plain(err.Error(), 200))
	}
	return e
}

// isClosed reports whether err means that the store closed the connection. The error
// depends on timing: sending fails with net.ErrClosed if the transport's reader saw
// the end first and closed the socket.
func isClosed(err error) bool {
	for _, closed := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, closed) {
			return true
		}
	}
	text := err.Error()
	return strings.Contains(text, "closed by foreign host") || strings.Contains(text, "server closed idle connection")
}

// redact replaces the credentials in a string that came from the store or from a
// library.
func (c *Client) redact(text string) string {
	v, err := c.creds.GetWithContext(&credentials.CredContext{Client: http.DefaultClient})
	if err != nil {
		return text
	}
	for _, secret := range []string{v.SecretAccessKey, v.SessionToken, v.AccessKeyID} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	return text
}
