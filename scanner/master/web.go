package master

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxAnswer is the maximum size of one answer, decompressed. An answer of 10,000
// servers has 5 MiB.
const maxAnswer = 64 << 20

func (f *fetch) overWeb(ctx context.Context) error {
	f.withDefaults(time.Minute, 5*time.Minute, 4, 1000, webLimits)
	base, err := checkURL(cmp.Or(f.URL, DefaultWeb))
	switch {
	case err != nil:
		return err
	case f.Key.secret == "":
		return errors.New("the Web API needs a key")
	}
	w := webList{fetch: f, base: base, counts: map[int]*part{}, client: http.Client{
		Transport: f.Transport,
		// Following a redirection would send the key to another server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if err := w.fetchParts(ctx); err != nil {
		//lint:ignore ST1005 Web API is a proper name.
		return fmt.Errorf("Web API: %w", err)
	}
	return nil
}

// checkURL parses the address of the Web API. It returns an error for an address to
// which the key must not be sent. The error does not quote the address, which may be a
// request that contains a key.
func checkURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "":
		return nil, errors.New("the Web API's address is not a URL")
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, errors.New("the Web API's address must not contain a query or a user; " +
			"give the key separately")
	}
	ip, err := netip.ParseAddr(u.Hostname())
	isLoopback := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	if u.Scheme != "https" && !(u.Scheme == "http" && isLoopback) {
		return nil, errors.New("the Web API's address must begin with https://, because the key is sent there")
	}
	return u, nil
}

type webList struct {
	*fetch
	base   *url.URL
	client http.Client
	noOr   bool // the master does not know "or"
	// The parts of the list whose answer seemed complete, keyed by the number of servers in
	// the answer, which is at least minTwin. A nil part means that this number is a cap.
	counts map[int]*part
}

// ask requests the servers that meet a filter, passes them to handle, and returns
// their properties. It repeats a request that failed.
func (w *webList) ask(ctx context.Context, filter Filter) ([]sampled, error) {
	if w.stats.Replies == w.Answers {
		return nil, fmt.Errorf("%w: the list needs more answers than the maximum, %d", ErrTooMuch, w.Answers)
	}
	for try := 0; ; try++ {
		if err := w.awaitLimits(ctx); err != nil {
			return nil, err
		}
		got, err := w.once(ctx, filter)
		failed, isWeb := errors.AsType[*webError](err)
		switch {
		case err == nil:
			return got, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case w.own != nil, errors.Is(err, ErrTooMuch), isWeb && failed.final, w.Retries == 0:
			return nil, err
		case try == w.Retries:
			return nil, fmt.Errorf("asked %s: %w", times(try+1), err)
		}
		pause, why := min(2*time.Second<<min(try, 16), w.MaxWait), "pause before the next attempt"
		if isWeb && failed.wait >= 0 {
			pause, why = failed.wait, "the master asked for a pause"
		}
		if pause > w.MaxWait {
			return nil, fmt.Errorf("%w (%v; the limit is %v): %w", ErrSlow, pause, w.MaxWait, err)
		}
		w.stats.Retries++
		if err := w.pause(ctx, pause, why); err != nil {
			return nil, err
		}
	}
}

// once sends one request and reads the answer. If an error ends the answer early, the
// servers before the error have been passed to handle.
func (w *webList) once(ctx context.Context, filter Filter) (got []sampled, err error) {
	ctx, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base.String(), nil)
	if err != nil {
		return nil, w.hideIn(err)
	}
	// The limit is higher than the usual cap, because some answers have more servers.
	request.URL.RawQuery = url.Values{
		"key": {w.Key.secret}, "filter": {filter.String()}, "limit": {strconv.Itoa(5 * w.Cap)},
	}.Encode()
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "a2sscan")
	response, err := w.client.Do(request)
	if err != nil {
		return nil, w.hideIn(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, statusError(response)
	}
	in := &budget{r: response.Body, total: maxAnswer}
	err = readJSON(in, func(s *Server, bad error) error {
		if bad != nil {
			w.stats.Invalid++
			got = append(got, sampled{})
			return nil
		}
		got = append(got, s.sampled)
		if s.odd {
			w.stats.Odd++
		}
		if _, ok := w.seen[s.Addr]; !ok && w.Region != World && s.region != strconv.Itoa(int(w.Region)) {
			w.seen[s.Addr] = struct{}{}
			w.stats.Elsewhere++
			return nil
		}
		_, err := w.add(s)
		return err
	})
	w.stats.Bytes += uint64(maxAnswer - in.total)
	switch {
	case w.own != nil, errors.Is(err, ErrRefused), errors.Is(err, ErrTooMuch):
		return got, err
	case err != nil:
		return got, w.hideIn(cmp.Or(context.Cause(ctx), err))
	}
	w.stats.Replies++
	return got, nil
}

// webError is the error of a request. Its text has neither the key nor the URL, which
// contains the key. It unwraps only to an error of this package or of context.
type webError struct {
	text  string
	is    error         // may be nil
	final bool          // to repeat the request is useless
	wait  time.Duration // the value of Retry-After; negative if there is none
}

func (e *webError) Error() string { return e.text }
func (e *webError) Unwrap() error { return e.is }

// hideIn returns an error of another package as a webError.
func (w *webList) hideIn(err error) error {
	h := &webError{wait: -1}
	for _, is := range []error{context.Canceled, context.DeadlineExceeded, ErrMalformed} {
		if errors.Is(err, is) {
			h.is = is
			break
		}
	}
	for inURL, ok := errors.AsType[*url.Error](err); ok; inURL, ok = errors.AsType[*url.Error](err) {
		err = inURL.Err
	}
	network, isNetwork := errors.AsType[net.Error](err)
	switch {
	case err == context.DeadlineExceeded, isNetwork && network.Timeout():
		h.text = fmt.Sprintf("no answer within %v", w.Timeout)
	case err == io.EOF:
		h.text = errNoAnswer.Error()
	default:
		h.text = strings.ReplaceAll(err.Error(), w.Key.secret, hidden) // overWeb rejects an empty key
	}
	return h
}

// statusError returns the error for a status other than 200. It omits the text that the
// master sent, which may quote the request.
func statusError(response *http.Response) error {
	code := response.StatusCode
	e := &webError{wait: -1, final: code != http.StatusTooManyRequests && code < 500}
	e.text = strings.TrimSuffix(fmt.Sprintf("HTTP %d %s", code, strings.ToLower(http.StatusText(code))), " ")
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		e.is = ErrKey
	case code/100 == 4 && e.final:
		e.is = ErrRefused
	case code/100 == 3:
		e.text += ": a redirection, which is not followed because the request contains the key"
	}
	if e.is != nil {
		e.text = fmt.Sprintf("%v (%s)", e.is, e.text)
	}
	value := strings.TrimSpace(response.Header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		e.wait = time.Duration(min(seconds, 1<<32)) * time.Second
	} else if date, err := http.ParseTime(value); err == nil {
		e.wait = max(time.Until(date), 0)
	}
	return e
}
