package loopback

// Stats are the statistics of a fleet. The counters only grow.
type Stats struct {
	Queries    uint64 // datagrams that reached a server's place, or none
	Malformed  uint64 // of those: no request that a server knows (EC-16)
	Nobody     uint64 // of those: for a place that is empty or silent
	Limited    uint64 // of those: beyond the server's QueryLimit
	Replies    uint64 // datagrams sent
	ReplyBytes uint64 // UDP payload

	Walled      uint64 // from or for an address outside 127.0.0.0/8: dropped unread
	Foreign     uint64 // for an address outside the fleet: dropped
	LostQueries uint64 // dropped on purpose, on the way in
	LostReplies uint64 // dropped on purpose, on the way out
	Duplicated  uint64 // replies sent twice on purpose
	Reordered   uint64 // replies held back behind others on purpose
	Delayed     uint64 // replies that waited for the server's delay
	Overflow    uint64 // replies dropped because too many were waiting
	SendErrors  uint64 // replies that the kernel refused
	KernelDrops uint64 // queries that the kernel dropped: the fleet was too slow
}

// Add adds the numbers of t to s.
func (s *Stats) Add(t *Stats) {
	s.Queries += t.Queries
	s.Malformed += t.Malformed
	s.Nobody += t.Nobody
	s.Limited += t.Limited
	s.Replies += t.Replies
	s.ReplyBytes += t.ReplyBytes
	s.Walled += t.Walled
	s.Foreign += t.Foreign
	s.LostQueries += t.LostQueries
	s.LostReplies += t.LostReplies
	s.Duplicated += t.Duplicated
	s.Reordered += t.Reordered
	s.Delayed += t.Delayed
	s.Overflow += t.Overflow
	s.SendErrors += t.SendErrors
	s.KernelDrops += t.KernelDrops
}
