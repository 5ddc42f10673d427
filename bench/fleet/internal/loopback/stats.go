package loopback

import "reflect"

// Stats are the statistics of a fleet. The counters only grow.
type Stats struct {
	Queries    uint64 // datagrams to addresses of the fleet, with or without a server
	Malformed  uint64 // Queries that no server accepts as a request (EC-16)
	Nobody     uint64 // Queries to an empty address or a silent server
	Limited    uint64 // Queries beyond the server's QueryLimit
	Replies    uint64 // datagrams sent
	ReplyBytes uint64 // UDP payload

	Walled      uint64 // from or to an address outside 127.0.0.0/8: dropped unread
	Foreign     uint64 // to an address outside the fleet: dropped
	LostQueries uint64 // queries dropped on purpose
	LostReplies uint64 // replies dropped on purpose
	Duplicated  uint64 // replies sent twice on purpose
	Reordered   uint64 // replies sent after later ones on purpose
	Delayed     uint64 // replies that waited for the server's delay
	Overflow    uint64 // replies dropped because too many were waiting
	SendErrors  uint64 // replies that the kernel refused
	KernelDrops uint64 // queries that the kernel dropped: the fleet was too slow
}

// Add adds the numbers of t to s.
func (s *Stats) Add(t *Stats) {
	sum, more := reflect.ValueOf(s).Elem(), reflect.ValueOf(t).Elem()
	for i := range sum.NumField() {
		sum.Field(i).SetUint(sum.Field(i).Uint() + more.Field(i).Uint())
	}
}
