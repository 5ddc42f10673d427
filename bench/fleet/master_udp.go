package fleet

import (
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/scanner/master"
	"github.com/a2sscan/a2sscan/scanner/udp"
)

// serveUDP answers until the socket is closed. It does not answer datagrams from
// outside 127.0.0.0/8.
func (m *Master) serveUDP() error {
	buf := make([]byte, 2048)
	for {
		n, from, err := m.conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			return err
		}
		if !loopback.Inside(udp.Pack(from)) {
			continue
		}
		for _, datagram := range m.Reply(buf[:n]) {
			if _, err := m.conn.WriteToUDPAddrPort(datagram, from); err != nil {
				return err
			}
		}
	}
}

// Reply returns the datagrams with which the master answers a datagram. It returns
// nil if the datagram is not a valid request, or if the master is silent.
func (m *Master) Reply(datagram []byte) [][]byte {
	var q master.Request
	if q.Decode(datagram) != nil {
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
	return m.reply(&q, filter, faulty)
}

// page collects the addresses of a page, beginning with entry i. end reports
// whether no more addresses follow.
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

// reply returns a page or, if faulty is set, a reply with all of the configured
// faults.
func (m *Master) reply(q *master.Request, f master.Filter, faulty bool) [][]byte {
	has := func(f MasterFault) bool { return faulty && m.has(f) }
	from := m.after(q.Seed)
	switch {
	case has(MasterStuck):
		from = 0
	case has(MasterOverlaps):
		from = max(from-m.Page/4, 0)
	}
	addrs, end := m.page(from, q.Region, f)
	switch {
	case has(MasterSeedLast):
		addrs, end = []netip.AddrPort{q.Seed}, false
	case has(MasterEndless) && end:
		again, _ := m.page(0, q.Region, f)
		addrs, end = append(addrs, again...), false
		addrs = addrs[:min(len(addrs), m.Page)]
	case has(MasterStuck), has(MasterNoTerminator):
		end = false
	}
	datagram := (&master.Page{Addrs: addrs, End: end}).Append(nil)
	if has(MasterTruncated) && len(addrs) > 1 {
		datagram = datagram[:len(datagram)-4]
	}
	if has(MasterStub) {
		datagram = datagram[:min(len(datagram), 6+3)]
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
