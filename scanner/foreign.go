package scanner

import "github.com/a2sscan/a2sscan/wire"

// foreignCause is the likely origin of a datagram whose source is not a target. A server
// with several addresses may answer from an address other than the one that was queried,
// and a router that rewrites addresses may change the port.
type foreignCause uint8

const (
	foreignPort     foreignCause = iota // a reply from the address of a target, with another port
	foreignAddress                      // a reply from an address that was not queried lately
	foreignFragment                     // a fragment of a reply
	foreignOther                        // not a reply

	numForeignCauses = iota
)

// ForeignCauses are the words for the causes in the scan's summary, in the order of
// Stats.Foreign.
var ForeignCauses = [numForeignCauses]string{"other_port", "other_address", "fragment", "other"}

// foreign is the part of the receiver that finds the likely origin of datagrams that no
// target sent. It remembers the addresses of recent targets in a table of 256 KiB, in
// which a new address may overwrite another one.
type foreign struct {
	lately [1 << 16]uint32
}

// hash spreads a source, which is a packed address and port, over 64 bits. The multiplier
// is 2^64 divided by the golden ratio.
func hash(source uint64) uint64 {
	h := source * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

func (f *foreign) place(ip uint32) *uint32 { return &f.lately[hash(uint64(ip))%uint64(len(f.lately))] }

func (f *foreign) begin(addr uint64) { *f.place(ipOf(addr)) = ipOf(addr) }

// cause returns the cause of a datagram whose source is not a target.
func (f *foreign) cause(source uint64, datagram []byte) foreignCause {
	if wire.IsSplit(datagram) {
		return foreignFragment
	}
	switch wire.KindOf(datagram) {
	case wire.KindInfo, wire.KindGoldSource, wire.KindPlayers, wire.KindRules, wire.KindChallenge, wire.KindPing:
		if *f.place(ipOf(source)) == ipOf(source) {
			return foreignPort
		}
		return foreignAddress
	}
	return foreignOther
}

// recent is a set of the sources of finished targets. Each stays for one to two cooldowns,
// so that the scan can tell late replies from foreign ones. The set holds at most 2 ×
// maxRecent sources. If more targets finish, it forgets the oldest sources early.
type recent struct {
	now, before map[uint64]struct{}
}

const maxRecent = 1 << 18

func (r *recent) add(source uint64) {
	if len(r.now) >= maxRecent {
		r.turn()
	}
	r.now[source] = struct{}{}
}

func (r *recent) has(source uint64) bool {
	_, ok := r.now[source]
	if !ok {
		_, ok = r.before[source]
	}
	return ok
}

func (r *recent) turn() {
	r.now, r.before = r.before, r.now
	clear(r.now)
}

// sweep is the set of targets of a scan in which all targets have the same port and no
// address occurs twice. It has a bit for each address of every /16 that has a target.
type sweep struct {
	port  uint16
	pages map[uint16]*[1 << 10]uint64
}

func (s *sweep) add(source uint64) {
	ip := ipOf(source)
	page := s.pages[uint16(ip>>16)]
	if page == nil {
		page = new([1 << 10]uint64)
		s.pages[uint16(ip>>16)] = page
	}
	page[ip>>6&(1<<10-1)] |= 1 << (ip & 63)
}

func (s *sweep) has(source uint64) bool {
	ip := ipOf(source)
	page := s.pages[uint16(ip>>16)]
	return page != nil && uint16(source) == s.port && page[ip>>6&(1<<10-1)]&(1<<(ip&63)) != 0
}
