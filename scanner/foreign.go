package scanner

import "github.com/a2sscan/a2sscan/wire"

// foreignCause is the likely origin of a foreign datagram. A server with several
// addresses may answer from an address other than the one that was queried, and a
// router that rewrites addresses may change the port.
type foreignCause uint8

// The causes.
const (
	foreignPort     foreignCause = iota // a reply from the address of a target, with another port
	foreignAddress                      // a reply from an address that was not queried lately
	foreignFragment                     // a fragment of a reply
	foreignOther                        // not a reply

	numForeignCauses = iota
)

// ForeignCauses are the summary's words for the causes, in the order of Stats.Foreign.
var ForeignCauses = [numForeignCauses]string{"other_port", "other_address", "fragment", "other"}

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
	r.stats.Received[classForeign]++
	cause := foreignOther
	switch {
	case isReply(datagram, &r.info):
		r.stats.ForeignReplies++
		r.strangers.add(source)
		cause = foreignAddress
		if r.lately.has(source) {
			cause = foreignPort
		}
	case wire.IsSplit(datagram):
		cause = foreignFragment
	}
	r.stats.Foreign[cause]++
}
