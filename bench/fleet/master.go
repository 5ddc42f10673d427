package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/scanner/master"
	"github.com/a2sscan/a2sscan/scanner/udp"
)

// MasterConfig describes a simulated master server. If only Fleet is set, the master has no
// faults and no rate limit, and its pages and answers are as long as Steam's.
type MasterConfig struct {
	// The fleet whose addresses and ports are on the list, with or without a server.
	Fleet Config
	Also  []netip.AddrPort // other addresses on the list, such as addresses of relays

	// UDP and Web are the addresses, in 127.0.0.0/8, at which the master answers. If only
	// one of them is set, the master answers only over that protocol. If neither is set,
	// it answers over both, on 127.0.0.1 and on ports that the system chooses.
	UDP, Web netip.AddrPort

	// Number of addresses in a page; zero means as many as fit into a datagram of a
	// Steam master.
	Page int
	Cap  int    // maximum number of servers in an answer over HTTP; zero means 10,000
	Key  string // the key that HTTP requests must have; empty means any key

	// Maximum number of requests over UDP per minute, from all clients together. If more
	// requests arrive, the master is silent for a minute. Zero means no limit.
	PerMinute int
	In        time.Duration // value of Retry-After with MasterTooMany; zero means a minute
	Date      bool          // whether Retry-After is a date instead of a number of seconds

	Faults []MasterFault // the faults of the master
	// Number of requests before the faults begin, counted separately for UDP and HTTP.
	After int
	// Number of requests for which the faults last; zero means forever.
	For int
}

// The limits of Steam's masters (docs/FORMATS.md, sections 1 and 2).
const (
	pageAddrs    = 231    // addresses in a full page, a datagram of 1392 bytes
	webCap       = 10_000 // servers in an answer of the Web API
	maxUDPFilter = 190    // maximum length of a filter over UDP, in bytes
)

// MasterFault is the word that command-line flags use for a fault of a master.
type MasterFault string

// The faults of a list over UDP.
const (
	MasterSilent       MasterFault = "silent"        // no answer; also over HTTP
	MasterTruncated    MasterFault = "truncated"     // pages end inside an address; over HTTP, an answer ends early
	MasterNoTerminator MasterFault = "no-terminator" // the last page has no terminator; the page after it is empty
	MasterEndless      MasterFault = "endless"       // the list never ends: the first address follows the last
	MasterStuck        MasterFault = "stuck"         // every request gets the same page
	MasterOverlaps     MasterFault = "overlaps"      // pages begin with the last addresses of the previous page
	MasterTwice        MasterFault = "twice"         // each page comes twice
	MasterStranger     MasterFault = "stranger"      // before each page, two datagrams that are not pages
)

// The faults of a list over HTTP.
const (
	MasterTooMany   MasterFault = "429"
	MasterBroken    MasterFault = "503"
	MasterMalformed MasterFault = "malformed" // invalid JSON after some servers
	MasterRedirect  MasterFault = "redirect"  // a redirection to another host
	MasterHuge      MasterFault = "huge"      // JSON without an end
	MasterEmptyJSON MasterFault = "empty"     // {"response":{}}
	MasterPage      MasterFault = "html"      // status 200, and HTML that quotes the request
	MasterForbidden MasterFault = "403"
	MasterRefuses   MasterFault = "400" // status 400, and a text that quotes the request
)

var masterFaults = []string{
	"400", "403", "429", "503", "empty", "endless", "html", "huge", "malformed", "no-terminator", "overlaps",
	"redirect", "silent", "stranger", "stuck", "truncated", "twice",
}

// ParseMasterFaults reads the words of faults, separated by commas. It returns nil
// if list is empty.
func ParseMasterFaults(list string) (faults []MasterFault, err error) {
	at, err := parseWords("fault", list, masterFaults, strings.Join(masterFaults, ", "))
	for _, i := range at {
		faults = append(faults, MasterFault(masterFaults[i]))
	}
	return faults, err
}

// Master is a simulated master server over UDP and HTTP, on loopback only.
type Master struct {
	MasterConfig
	list []listed
	conn *net.UDPConn
	web  net.Listener

	mu    sync.Mutex
	pages []time.Time // times of the requests over UDP
	calls int         // number of requests over HTTP
	mute  time.Time   // the master is silent until this time
}

// NewMaster builds the list of a master. It returns an error if c.Fleet is invalid.
// Reply and ServeHTTP answer without a network. Listen must be called before Serve.
func NewMaster(c MasterConfig) (*Master, error) {
	c.Page, c.Cap, c.In = cmp.Or(c.Page, pageAddrs), cmp.Or(c.Cap, webCap), cmp.Or(c.In, time.Minute)
	list, err := listOf(&c)
	if err != nil {
		return nil, fmt.Errorf("master: %w", err)
	}
	return &Master{MasterConfig: c, list: list}, nil
}

// Listen opens the sockets of a master.
func (m *Master) Listen() (err error) {
	udp, web := m.UDP, m.Web
	if !udp.IsValid() && !web.IsValid() {
		udp = netip.MustParseAddrPort("127.0.0.1:0")
		web = udp
	}
	for _, at := range []netip.AddrPort{udp, web} {
		if at.IsValid() && !loopback.Network.Contains(at.Addr()) {
			return fmt.Errorf("master: the address %v is not inside %v", at, loopback.Network)
		}
	}
	if udp.IsValid() {
		if m.conn, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(udp)); err != nil {
			return fmt.Errorf("master: %w", err)
		}
	}
	if web.IsValid() {
		if m.web, err = net.Listen("tcp4", web.String()); err != nil {
			return errors.Join(fmt.Errorf("master: %w", err), m.Close())
		}
	}
	return nil
}

// UDPAddr returns the UDP address of the master as host:port, or "" if it does not
// answer over UDP.
func (m *Master) UDPAddr() string {
	if m.conn == nil {
		return ""
	}
	return m.conn.LocalAddr().String()
}

// URL returns the URL of the master's GetServerList, or "" if it does not answer
// over HTTP.
func (m *Master) URL() string {
	if m.web == nil {
		return ""
	}
	return "http://" + m.web.Addr().String() + "/IGameServersService/GetServerList/v1/"
}

// Len returns how many addresses are on the list.
func (m *Master) Len() int { return len(m.list) }

// Serve answers until ctx is done or the Master is closed, and then returns nil. It
// may be called once, after Listen.
func (m *Master) Serve(ctx context.Context) error {
	server := &http.Server{Handler: m, ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() {
		server.Close()
		m.Close()
	})
	defer stop()
	var wg sync.WaitGroup
	errs := make([]error, 2)
	if m.conn != nil {
		wg.Go(func() {
			buf := make([]byte, 2048)
			for errs[0] == nil {
				n, from, err := m.conn.ReadFromUDPAddrPort(buf)
				if errs[0] = err; err != nil || !loopback.Inside(udp.Pack(from)) {
					continue // not answered
				}
				for _, datagram := range m.Reply(buf[:n]) {
					_, err := m.conn.WriteToUDPAddrPort(datagram, from)
					errs[0] = cmp.Or(errs[0], err)
				}
			}
		})
	}
	if m.web != nil {
		wg.Go(func() { errs[1] = server.Serve(m.web) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("master: %w", err)
		}
	}
	return nil
}

// Close closes the sockets, which ends Serve.
func (m *Master) Close() (err error) {
	if m.conn != nil {
		err = m.conn.Close()
	}
	if m.web != nil {
		err = errors.Join(err, m.web.Close())
	}
	return err
}

// Requests returns how many valid requests arrived over UDP, and how many requests arrived
// over HTTP, whether or not they were answered.
func (m *Master) Requests() (udp, web int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.pages), m.calls
}

// faulty reports whether the faults are active for the nth request.
func (m *Master) faulty(n int) bool { return n > m.After && (m.For == 0 || n <= m.After+m.For) }

func (m *Master) has(f MasterFault) bool { return slices.Contains(m.Faults, f) }

// Reply returns the datagrams with which the master answers a request. It returns
// nil if the request is not valid, or if the master is silent.
func (m *Master) Reply(request []byte) [][]byte {
	var q master.Request
	if q.Decode(request) != nil {
		return nil
	}
	filter, err := master.ParseFilter(q.Filter)
	if err != nil || len(q.Filter) > maxUDPFilter {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.pages = append(m.pages, now)
	if n := len(m.pages) - 1 - m.PerMinute; m.PerMinute > 0 && n >= 0 && now.Sub(m.pages[n]) < time.Minute {
		m.mute = now.Add(time.Minute)
	}
	faulty := m.faulty(len(m.pages))
	if now.Before(m.mute) || faulty && m.has(MasterSilent) {
		return nil
	}
	has := func(f MasterFault) bool { return faulty && m.has(f) }
	from := m.after(q.Seed)
	switch {
	case has(MasterStuck):
		from = 0
	case has(MasterOverlaps):
		from = max(from-m.Page/4, 0)
	}
	addrs, end := m.page(from, q.Region, filter)
	switch {
	case has(MasterEndless) && end:
		again, _ := m.page(0, q.Region, filter)
		addrs, end = append(addrs, again...), false
		addrs = addrs[:min(len(addrs), m.Page)]
	case has(MasterStuck), has(MasterNoTerminator):
		end = false
	}
	datagram := (&master.Page{Addrs: addrs, End: end}).Append(nil)
	if has(MasterTruncated) && len(addrs) > 1 {
		datagram = datagram[:len(datagram)-4]
	}
	replies := [][]byte{datagram}
	if has(MasterStranger) {
		replies = [][]byte{[]byte("\xFF\xFF\xFF\xFFI\x11not a list\x00"), {}, datagram}
	}
	if has(MasterTwice) {
		replies = append(replies, datagram)
	}
	return replies
}

// page collects the addresses of a page, beginning with entry i of the list. The second
// result, end, reports whether this is the last page.
func (m *Master) page(i int, r master.Region, f master.Filter) (addrs []netip.AddrPort, end bool) {
	for ; i < len(m.list); i++ {
		e := &m.list[i]
		if !e.in(r) || !e.meets(f) {
			continue
		}
		if len(addrs) == m.Page {
			return addrs, false
		}
		addrs = append(addrs, e.addr)
	}
	return addrs, true
}
