package scanner

import "reflect"

// Add makes s the numbers of a scan in several parts, of which past are those
// of the parts before. What counts (every uint64) and Elapsed are added, of
// each peak the higher one stays, and what is now (Open, Bytes, Rate, buffers)
// is that of s.
//
// Of a part that ended with a Snapshot from which the next went on, the open
// targets are Taken twice.
func (s *Stats) Add(past *Stats) {
	s.Elapsed += past.Elapsed
	s.PeakOpen = max(s.PeakOpen, past.PeakOpen)
	s.PeakBytes = max(s.PeakBytes, past.PeakBytes)
	addCounters(reflect.ValueOf(s).Elem(), reflect.ValueOf(past).Elem())
}

// addCounters adds every uint64 in src to the one in the same place of dst.
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
