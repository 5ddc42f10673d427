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

// DefaultWeb is the address of Valve's GetServerList.
const DefaultWeb = "https://api.steampowered.com/IGameServersService/GetServerList/v1/"

// WebCap is the maximum number of servers in an answer of the Web API.
const WebCap = 10_000

// Errors of the Web API. The servers before the error have been passed to handle.
var (
	ErrKey     = errors.New("the key was refused")
	ErrRefused = errors.New("the request was refused")
	ErrSlow    = errors.New("the master asks to wait longer than we are willing to")
)

// WebConfig describes which list to fetch from the Steam Web API, and how.
type WebConfig struct {
	URL    string // empty: DefaultWeb. https, except on loopback; no query
	Key    Key    // of the Web API: see ParseKey
	Region Region // only servers that claim it; World: all servers; zero is USEast
	Filter Filter // empty: all servers

	Limits   []Limit       // nil: WebLimits; empty: none
	Timeout  time.Duration // for one answer, including its body; zero: 60 s
	Retries  int           // maximum retries per answer; zero: 4; negative: none
	MaxWait  time.Duration // longest Retry-After that is obeyed; zero: 5 min
	MaxBytes int64         // maximum size of one answer, decompressed; zero: 64 MiB
	MaxCalls int           // maximum number of answers; zero: 1000 (25 minutes)
	Max      uint64        // maximum number of servers; zero: 10,000,000
	Cap      int           // an answer of this many servers counts as cut; zero: WebCap

	Progress  func(Progress)    // called between requests; may be nil
	Transport http.RoundTripper // nil: http.DefaultTransport
}

// The defaults of a WebConfig.
const (
	webTimeout  = time.Minute
	webRetries  = 4
	webMaxWait  = 5 * time.Minute
	webMaxBytes = 64 << 20 // an answer of 10,000 servers has 5 MiB
	webMaxCalls = 1000
)

// firstPause is the pause before the first repeated request, unless the master
// specifies one. It doubles before each further request.
const firstPause = 2 * time.Second

// maxDoublings is the maximum number of times that the pause doubles. After 16
// times it is longer than a day.
const maxDoublings = 16

func (c WebConfig) withDefaults() WebConfig {
	c.URL = cmp.Or(c.URL, DefaultWeb)
	c.Timeout = cmp.Or(c.Timeout, webTimeout)
	c.Retries = max(cmp.Or(c.Retries, webRetries), 0)
	c.MaxWait = cmp.Or(c.MaxWait, webMaxWait)
	c.MaxBytes = cmp.Or(c.MaxBytes, webMaxBytes)
	c.MaxCalls = cmp.Or(c.MaxCalls, webMaxCalls)
	c.Cap = cmp.Or(c.Cap, WebCap)
	if c.Limits == nil {
		c.Limits = WebLimits
	}
	return c
}

// FetchWeb fetches a list and passes each server to handle once, as soon as it
// arrives; the Server is valid until handle returns. FetchWeb fetches a list larger
// than the cap in parts (see the package documentation). The fetch ends early if
// handle returns an error, or if ctx ends. The Stats are correct even if FetchWeb
// returns an error.
//
// No error, and nothing that it wraps, contains the key or a URL.
func FetchWeb(ctx context.Context, cfg WebConfig, handle func(*Server) error) (Stats, error) {
	cfg = cfg.withDefaults()
	base, err := checkURL(cfg.URL)
	if err != nil {
		return Stats{}, err
	}
	if cfg.Key.IsZero() {
		return Stats{}, errors.New("the Web API needs a key")
	}
	if _, err := cfg.Filter.Append(nil); err != nil {
		return Stats{}, err
	}
	w := webList{
		WebConfig: cfg, collector: newCollector(cfg.Max, handle),
		base: base, pace: pace{limits: cfg.Limits},
		client: &http.Client{
			Transport: cfg.Transport,
			// Following a redirection would send the key to another server.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	err = w.explain("Web API", w.fetch(ctx))
	return w.stats, err
}

// checkURL parses the address of the Web API. It returns an error for an address to
// which the key must not be sent.
func checkURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "":
		// The address is not quoted: it may be a request that contains a key.
		return nil, errors.New("the Web API's address is no URL")
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, errors.New("the Web API's address must be without a query and a user; " +
			"the key is given separately")
	case u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())):
		return nil, errors.New("the Web API's address must begin with https://; " +
			"the key is sent there")
	}
	return u, nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// webList is the state of FetchWeb.
type webList struct {
	WebConfig
	*collector
	base   *url.URL
	client *http.Client
	pace   pace
	calls  int  // answers read without an error
	noOr   bool // the master does not know "or"
}

// answer is the sample of servers in an answer. The list is divided into parts
// based on it.
type answer []sampled

// ask requests the servers that meet a filter, passes them to handle, and returns
// them as the sample for dividing the list. It repeats a failed request unless
// again returns an error.
func (w *webList) ask(ctx context.Context, f Filter) (answer, error) {
	if w.calls == w.MaxCalls {
		return nil, fmt.Errorf("%w: incomplete after %d answers", ErrTooMany, w.calls)
	}
	text, err := f.Append(nil)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		if err := w.await(ctx); err != nil {
			return nil, err
		}
		got, err := w.once(ctx, string(text))
		if err == nil {
			w.calls++
			return got, nil
		}
		if err = w.again(ctx, err, try); err != nil {
			return nil, err
		}
	}
}

// await waits until the limits allow the next request.
func (w *webList) await(ctx context.Context) error {
	d := w.pace.delay(time.Now())
	why := WaitNothing
	if d > 0 {
		why = WaitLimit
	}
	w.progress(d, why)
	return sleep(ctx, d)
}

func (w *webList) progress(wait time.Duration, why Wait) {
	if w.Progress != nil {
		w.Progress(Progress{Stats: w.stats, Wait: wait, Why: why})
	}
}

// again waits before a request that failed with err is repeated. It returns an
// error if the request must not be repeated.
func (w *webList) again(ctx context.Context, err error, try int) error {
	var caller *callerError
	var status *statusError
	isStatus := errors.As(err, &status)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &caller), errors.Is(err, ErrTooMany), errors.Is(err, ErrTooLarge):
		return err
	case isStatus && !status.passes():
		return err
	case try == w.Retries && try == 0:
		return err
	case try == w.Retries:
		return fmt.Errorf("asked %s: %w", times(try+1), err)
	}
	pause, why := firstPause<<min(try, maxDoublings), WaitRetry
	if isStatus && status.asked {
		pause, why = status.wait, WaitAsked
	}
	if pause > w.MaxWait {
		if why == WaitAsked {
			return fmt.Errorf("%w (%v, at most %v): %w", ErrSlow, pause, w.MaxWait, err)
		}
		pause = w.MaxWait
	}
	w.stats.Retries++
	w.progress(pause, why)
	return sleep(ctx, pause)
}

// once sends one request and reads the answer.
func (w *webList) once(ctx context.Context, filter string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base.String(), nil)
	if err != nil {
		return nil, w.hideIn(err)
	}
	request.URL.RawQuery = url.Values{
		"key": {w.Key.secret}, "filter": {filter}, "limit": {strconv.Itoa(w.Cap)},
	}.Encode()
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "a2sscan")
	w.pace.note(time.Now())
	w.stats.Requests++
	response, err := w.client.Do(request)
	if err != nil {
		return nil, w.hideIn(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, newStatusError(response, time.Now())
	}
	return w.read(response.Body)
}

// read passes on the servers of an answer, and returns their sample. If an error
// ends the answer early, the servers before it have been passed on.
func (w *webList) read(body io.Reader) (got answer, err error) {
	a := newAnswers(body, w.MaxBytes)
	defer func() { w.stats.Bytes += a.in.read }()
	for {
		err := a.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return got, w.hideIn(err)
		}
		got = append(got, sampled{})
		if err := w.take(a, &got[len(got)-1]); err != nil {
			return got, err
		}
	}
	if !a.begun {
		return got, w.hideIn(errNoAnswer)
	}
	if a.refused {
		return got, fmt.Errorf("%w: the answer reports a failure", ErrRefused)
	}
	w.stats.Replies++
	return got, nil
}

// take passes on the current server of a, unless it is in another region, and
// stores its properties in sample.
func (w *webList) take(a *answers, sample *sampled) error {
	var s Server
	if a.element.address(&s) != nil {
		w.stats.Invalid++
		return nil
	}
	if a.element.server(&s) {
		w.stats.Odd++
	}
	*sample = sampled{
		name: s.Name, gameMap: s.Map, empty: s.Players == 0, linux: s.OS == "l",
	}
	if w.Region != World && (s.Has&HasRegion == 0 || s.Region != int32(w.Region)) {
		w.elsewhere(&s)
		return nil
	}
	_, err := w.add(&s)
	return err
}

// elsewhere counts a server in another region, or a duplicate if its address is
// known.
func (w *webList) elsewhere(s *Server) {
	k := key(s.Addr)
	if _, ok := w.seen[k]; ok {
		w.stats.Duplicates++
		return
	}
	w.seen[k] = struct{}{}
	w.stats.Elsewhere++
}

// hiddenError replaces an error of another package whose text may contain the key:
// a *url.Error contains the URL, and so the key. It unwraps only to errors of this
// package and of context.
type hiddenError struct {
	text string
	is   error
}

func (e *hiddenError) Error() string { return e.text }
func (e *hiddenError) Unwrap() error { return e.is }

// hideIn replaces an error of another package with a hiddenError.
func (w *webList) hideIn(err error) error {
	h := &hiddenError{}
	for _, is := range []error{
		context.Canceled, context.DeadlineExceeded, ErrTooLarge, ErrTruncated, ErrMalformed,
	} {
		if errors.Is(err, is) {
			h.is = is
			break
		}
	}
	var inURL *url.Error
	for errors.As(err, &inURL) {
		err = inURL.Err
	}
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		h.text = fmt.Sprintf("no answer within %v", w.Timeout)
		return h
	}
	if err == io.EOF {
		err = errNoAnswer
	}
	h.text = w.Key.hide(err.Error())
	return h
}

// errNoAnswer is the error for a connection that ends without data, and for a body
// without an answer. An empty list would be {"response":{}}.
var errNoAnswer = fmt.Errorf("%w: there is no answer at all", ErrTruncated)

// statusError is the error for an HTTP status other than 200.
type statusError struct {
	code  int
	wait  time.Duration // the value of Retry-After
	asked bool          // a Retry-After header was usable
}

func newStatusError(r *http.Response, now time.Time) *statusError {
	e := &statusError{code: r.StatusCode}
	e.wait, e.asked = retryAfter(r.Header.Get("Retry-After"), now)
	if e.asked && !e.passes() {
		e.wait, e.asked = 0, false
	}
	return e
}

// retryAfter parses the value of a Retry-After header, which is a number of seconds
// or a date. ok is false if it is neither.
func retryAfter(value string, now time.Time) (wait time.Duration, ok bool) {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(seconds, 1<<32)) * time.Second, true
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return max(date.Sub(now), 0), true
}

// passes reports whether the request may succeed later.
func (e *statusError) passes() bool {
	return e.code == http.StatusTooManyRequests || e.code >= 500
}

// Error describes the status. It omits the text that the master sent, which may
// quote the request.
func (e *statusError) Error() string {
	text := "HTTP " + strconv.Itoa(e.code)
	if known := http.StatusText(e.code); known != "" {
		text += " " + strings.ToLower(known)
	}
	switch {
	case e.Unwrap() != nil:
		return e.Unwrap().Error() + " (" + text + ")"
	case e.code/100 == 3:
		return text + ": redirected, which is not followed because of the key"
	}
	return text
}

// Unwrap returns ErrKey or ErrRefused if the status means that, and nil otherwise.
func (e *statusError) Unwrap() error {
	switch {
	case e.code == http.StatusUnauthorized || e.code == http.StatusForbidden:
		return ErrKey
	case e.code/100 == 4 && !e.passes():
		return ErrRefused
	}
	return nil
}
