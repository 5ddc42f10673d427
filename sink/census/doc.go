// Package census compares and sums up whole censuses.
//
// [Open] names the files of a census: plain, zstd or gzip, parts and shards, in any
// order. Read passes over its servers, [Aggregate] makes the [Stats] of a night, [Join]
// pairs the servers of two nights, and [Diff] finds each [Change] between them.
package census
