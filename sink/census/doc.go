// Package census sums up censuses and compares them.
//
// [Open] reads the files of a census: plain, zstd or gzip, parts and shards, in any
// order. [Census.Stats] returns the aggregates of a census, and [Diff] finds each
// [Change] between two censuses. [Changed] compares two records of one server. Some names
// and comments call a census a night.
package census
