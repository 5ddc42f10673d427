package scanner

import "github.com/a2sscan/a2sscan/wire"

// ForeignCause is the likely origin of a foreign datagram. A server with several
// addresses may answer from an address other than the one that was queried, and a
// router that rewrites addresses may change the port.
type ForeignCause uint8

// The causes.
const (
	ForeignPort     ForeignCause = iota // a reply from the address of a target, with another port
	ForeignAddress                      // a reply from an address that was not queried lately
	ForeignFragment                     // a fragment of a reply
	ForeignOther                        // not a reply

	NumForeignCauses = iota
)

var foreignWords = [NumForeignCauses]string{"other_port", "other_address", "fragment", "other"}

// String returns the summary's word for c.
func (c ForeignCause) String() string { return foreignWords[c] }

// lately is a set of the addresses of recent targets. Its size is fixed, 256 KiB: a
// new address may overwrite another one.
type lately []uint32

const latelySize = 1 << 16

// hash spreads a packed source over 64 bits (the multiplier is 2^64 divided by the
// golden ratio).
func hash(source uint64) uint64 {
	h := source * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

func (l lately) at(ip uint32) *uint32 { return &l[hash(uint64(ip))%latelySize] }

func (l lately) add(source uint64) { *l.at(ipOf(source)) = ipOf(source) }

func (l lately) has(source uint64) bool { return *l.at(ipOf(source)) == ipOf(source) }

// foreign counts a datagram whose source is not a target.
func (r *receiver) foreign(source uint64, datagram []byte) {
	r.stats.Received[ClassForeign]++
	cause := ForeignOther
	switch {
	case isReply(datagram, &r.info):
		r.stats.ForeignReplies++
		r.strangers.add(source)
		cause = ForeignAddress
		if r.lately.has(source) {
			cause = ForeignPort
		}
	case wire.IsSplit(datagram):
		cause = ForeignFragment
	}
	r.stats.Foreign[cause]++
}
