package reasm

// Stats are the statistics of a Table. Groups, Fragments, Remembered and Bytes
// are current values; the others are counters that only grow.
type Stats struct {
	Groups     int   // replies that wait for fragments
	Fragments  int   // fragments of these replies
	Remembered int   // complete replies whose late duplicates are recognised
	Bytes      int64 // bytes of memory in use, at most the limit of the Table

	Whole     uint64 // uncompressed replies reassembled
	Packed    uint64 // compressed replies reassembled
	Duplicate uint64 // fragments dropped because they equal an earlier fragment
	Conflict  uint64 // fragments dropped because they contradict another fragment
	Malformed uint64 // fragments dropped because they can't be decoded
	TooLarge  uint64 // fragments dropped because they exceed a limit
	Evicted   uint64 // incomplete replies dropped to make room
	Expired   uint64 // incomplete replies dropped for their age
	Forgotten uint64 // incomplete replies dropped by Forget
}

func (s *Stats) add(o *Stats) {
	s.Groups += o.Groups
	s.Fragments += o.Fragments
	s.Remembered += o.Remembered
	s.Bytes += o.Bytes
	s.Whole += o.Whole
	s.Packed += o.Packed
	s.Duplicate += o.Duplicate
	s.Conflict += o.Conflict
	s.Malformed += o.Malformed
	s.TooLarge += o.TooLarge
	s.Evicted += o.Evicted
	s.Expired += o.Expired
	s.Forgotten += o.Forgotten
}
