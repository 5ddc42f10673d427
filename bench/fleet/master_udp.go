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
	faulty, silent := m.admit(time.Now())
	if silent {
		return nil
	}
	if !faulty {
		addrs, end := m.page(m.after(q.Seed), q.Region, filter)
		return [][]byte{(&master.Page{Addrs: addrs, End: end}).Append(nil)}
	}
	return m.faultyReply(&q, filter)
}

// admit counts a request. It reports whether the faults are active, and whether the
// master is silent.
func (m *Master) admit(now time.Time) (faulty, silent bool) {
	faulty = m.note(&m.pages, now)
	if m.PerMinute > 0 && m.pages.within(time.Minute, now) > m.PerMinute {
		m.mute = now.Add(time.Minute)
	}
	return faulty, now.Before(m.mute) || faulty && m.has(MasterSilent)
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

// faultyReply returns a reply with all of the configured faults.
func (m *Master) faultyReply(q *master.Request, f master.Filter) [][]byte {
	from := m.after(q.Seed)
	switch {
	case m.has(MasterStuck):
		from = 0
	case m.has(MasterOverlaps):
		from = max(from-m.Page/4, 0)
	}
	addrs, end := m.page(from, q.Region, f)
	switch {
	case m.has(MasterSeedLast):
		addrs, end = []netip.AddrPort{q.Seed}, false
	case m.has(MasterEndless) && end:
		again, _ := m.page(0, q.Region, f)
		addrs, end = append(addrs, again...), false
		addrs = addrs[:min(len(addrs), m.Page)]
	case m.has(MasterStuck), m.has(MasterNoTerminator):
		end = false
	}
	datagram := (&master.Page{Addrs: addrs, End: end}).Append(nil)
	if m.has(MasterTruncated) && len(addrs) > 1 {
		datagram = datagram[:len(datagram)-4]
	}
	if m.has(MasterStub) {
		datagram = datagram[:min(len(datagram), 6+3)]
	}
	replies := [][]byte{datagram}
	if m.has(MasterStranger) {
		replies = [][]byte{[]byte("\xFF\xFF\xFF\xFFI\x11not a list\x00"), {}, datagram}
	}
	if m.has(MasterTwice) {
		replies = append(replies, datagram)
	}
	return replies
}
