// Package sink writes census files, and reads them back.
//
// A file is a census: NDJSON, one line a server, no header and no trailer,
// plain or compressed with zstd. Census files can be put one after the other.
//
// # Use
//
// To write one: [Create] a [Writer], hand its Write the Results of scanner.Scan
// as they come, and Close it. CreateSeries makes parts of a size or a time.
//
//	w, err := sink.Create("census.ndjson.zst", sink.Options{Scan: "nightly"})
//	stats, err := scanner.Scan(ctx, cfg, targets, func(r *scanner.Result) { w.Write(r) })
//	err = w.Close()
//
// To read one: [Open] a [Reader] and take its lines with Next until io.EOF. A
// line is JSON; package [record] describes its keys and reads it.
//
// A Writer copies what it needs before Write returns, and remembers its first
// error: all later calls return it, so that looking at Close's is enough. A line
// that a Reader returned is valid until its next call.
//
// # What survives
//
// When Writer.Sync or Close returned nil, every record written before it is
// in the file, and on a disk it was told to keep it. Between two Syncs records
// reach the file by blocks, after Options.FlushEvery at the latest.
//
// A compressed file is a sequence of zstd frames. A frame is a stream of
// blocks, each of which can be read as soon as it is in the file; a Sync ends
// it, so that Writer.Offset is a place where other programs can stop reading,
// and else it is ended when it holds 8 MiB of records, or is 10 seconds old.
//
// A run that is killed leaves at most one line torn, at the end, and maybe a
// frame that isn't ended. A Reader gives every whole line, leaves out the rest
// and says how long it was. Options.Append cuts the rest off, and writes the
// lines of a frame that isn't ended once more, so that other programs read the
// file to its end; Options.Resume cuts back to what a checkpoint named. When
// the disk fails or is full, the Writer does to the file as Append would, and
// says so by the error of every later call.
package sink
