// Package census sums up censuses and compares them.
//
// [Open] names the files of a census: plain, zstd or gzip, parts and shards, in any
// order. [Census.Read] reads its records, [Aggregate] makes the [Stats] of a night,
// [Join] pairs the servers of two nights, and [Diff] finds each [Change] between them.
package census
