package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"strings"
	"syscall"

	"github.com/minio/minio-go/v7"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Error explains why a request to a store failed. It contains no credentials.
type Error struct {
	Problem string
	Hint    string
	Err     error // the cause, from package fs or syscall, or errChanged; nil: another cause

	passing bool // the same request may succeed later without anybody acting
}

// Error returns the problem.
func (e *Error) Error() string { return e.Problem }

// Advice returns a hint at what to do about the problem.
func (e *Error) Advice() string { return e.Hint }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// IsPassing reports whether the same request may succeed later without anybody acting.
func IsPassing(err error) bool {
	known, ok := errors.AsType[*Error](err)
	return ok && known.passing
}

// Cause returns the Error that err wraps, which does not repeat the name of the object,
// or err itself.
func Cause(err error) error {
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	return err
}

// Advice returns the hint of an error of a store, or "".
func Advice(err error) string {
	if known, ok := errors.AsType[*Error](err); ok {
		return known.Hint
	}
	return ""
}

// errChanged means that the object is not the expected one, or that one is there already.
var errChanged = errors.New("the object changed")

// answers are the S3 errors that a user can do something about. In a problem, %[1]s is
// the host of the store and %[2]s the code.
var answers = []struct {
	codes string // each followed by a space
	Error
}{
	{"NoSuchKey NoSuchVersion NotFound ", Error{Problem: "there is no such object", Err: fs.ErrNotExist,
		Hint: "check its name; all objects of a folder are named with a slash at the end"}},
	{"InvalidAccessKeyId SignatureDoesNotMatch ExpiredToken InvalidToken TokenRefreshRequired AuthorizationHeaderMalformed InvalidTokenId ",
		Error{Problem: "the store at %[1]s does not accept the credentials: %[2]s", Err: fs.ErrPermission,
			Hint: "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN or AWS_PROFILE, and AWS_REGION"}},
	{"RequestTimeTooSkewed ", Error{Problem: "the store at %[1]s refuses the time of this machine: %[2]s", Hint: "set its clock"}},
	{"AccessDenied AllAccessDisabled Forbidden ", Error{Problem: "the store at %[1]s refuses access: %[2]s", Err: fs.ErrPermission,
		Hint: "the credentials need s3:GetObject, s3:PutObject and s3:ListBucket for this bucket"}},
	{"PreconditionFailed ConditionalRequestConflict ", Error{Problem: "the object changed while it was read", Err: errChanged,
		Hint: "run the command again"}},
	{"SlowDown SlowDownRead SlowDownWrite RequestTimeout InternalError ServiceUnavailable ",
		Error{Problem: "the store at %[1]s is busy: %[2]s", Hint: "try again later", passing: true}},
}

func (c *Client) noBucket(l Location) *Error {
	return &Error{Problem: "there is no bucket " + console.Quoted(l.Bucket, 80) + " at " + c.endpoint, Err: fs.ErrNotExist,
		Hint: "check its name, AWS_REGION and AWS_ENDPOINT_URL"}
}

// failure converts an error of minio-go for an object to an Error. It returns nil and
// the error of a canceled context unchanged.
func (c *Client) failure(l Location, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	var answer minio.ErrorResponse
	if !errors.As(err, &answer) || answer.Code == "" {
		return c.unreachable(err)
	}
	if answer.Code == "NoSuchBucket" {
		return c.noBucket(l)
	}
	code := console.Plain(answer.Code, 60)
	for _, a := range answers {
		if strings.Contains(a.codes, answer.Code+" ") {
			e := a.Error
			if strings.Contains(e.Problem, "%") {
				e.Problem = fmt.Sprintf(e.Problem, c.endpoint, code)
			}
			return &e
		}
	}
	return &Error{Problem: c.redact("the store at " + c.endpoint + " answered " + code + ": " + console.Plain(answer.Message, 200)),
		Hint: "the manual of the store explains the code", passing: true}
}

// unreachable converts the error of a request without a response to an Error.
func (c *Client) unreachable(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // without the URL
	}
	e := &Error{Hint: "check that it runs and that AWS_ENDPOINT_URL names it", passing: true}
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
	for _, secret := range []string{c.secrets.SecretAccessKey, c.secrets.SessionToken, c.secrets.AccessKeyID} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	return text
}
