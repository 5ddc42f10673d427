package scanner

import "reflect"

// Add adds past, the statistics of the earlier parts of a scan, to s, those of its
// last part. It adds every counter (uint64) and Elapsed, keeps the higher of each
// peak, and leaves the current values (Open, Bytes, Rate, buffers) of s as they
// are.
//
// If the last part resumed from a Snapshot, the targets that were open at that time
// are counted twice as Taken.
func (s *Stats) Add(past *Stats) {
	s.Elapsed += past.Elapsed
	s.PeakOpen = max(s.PeakOpen, past.PeakOpen)
	s.PeakBytes = max(s.PeakBytes, past.PeakBytes)
	addCounters(reflect.ValueOf(s).Elem(), reflect.ValueOf(past).Elem())
}

// addCounters adds every uint64 in src to the corresponding one in dst.
func addCounters(dst, src reflect.Value) {
	switch dst.Kind() {
	case reflect.Uint64:
		dst.SetUint(dst.Uint() + src.Uint())
	case reflect.Array:
		for i := range dst.Len() {
			addCounters(dst.Index(i), src.Index(i))
		}
	case reflect.Struct:
		for i := range dst.NumField() {
			addCounters(dst.Field(i), src.Field(i))
		}
	}
}
