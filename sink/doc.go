// Package sink writes census files, and reads them back.
//
// A census is NDJSON: one line for each server, no header and no trailer, plain
// or compressed with zstd. Census files that are concatenated are one census.
// Package [record] describes the lines.
//
// # Use
//
// To write a census, [Create] a [Writer], pass its Write the Results of
// scanner.Scan as they arrive, and Close it. [CreateSeries] divides a census into
// parts by size or time.
//
//	w, err := sink.Create("census.ndjson.zst", sink.Options{Scan: "nightly"})
//	stats, err := scanner.Scan(ctx, cfg, targets, func(r *scanner.Result) { w.Write(r) })
//	err = w.Close()
//
// To read one, [Open] a [Reader] and call Next until io.EOF. [Verify] proves that
// a census is complete and undamaged.
//
// A Writer copies what it needs before Write returns. It keeps its first error,
// which all later calls return: checking the error of Close is enough. A line
// that a Reader returned is valid until its next call.
//
// # Replacing a census
//
// With Options.Replace the new census is written beside the old one, under its
// name with [PartSuffix]. Close makes it durable; then Commit renames it, so that
// the name holds the old census or the new one, each complete, also after a
// crash. Keep leaves a census that is not complete beside the old one.
//
// # Durability
//
// When Writer.Sync or Close returns nil, every record written before it is in the
// file, and the disk was told to keep it. Between two Syncs records reach the
// file by blocks, after Options.FlushEvery at the latest. Close also makes sure
// that the file still has its name, its length and no hole: another program may
// have removed, renamed or truncated it.
//
// A compressed file is a sequence of zstd frames. A frame is a stream of blocks,
// each of which can be read as soon as it is in the file. Sync ends the frame, so
// that other programs can read the file up to Writer.Offset; otherwise a frame
// ends when it holds 8 MiB of records, or is 10 seconds old.
//
// A process that is killed leaves at most one partial line at the end of the
// file, and maybe a frame without its end. A Reader returns every complete line
// and the length of the rest. Options.Append cuts the rest off, and writes the
// lines of a frame without its end once more, so that other programs can read
// the whole file. Options.Resume cuts the file back to the offset of a
// checkpoint. When the disk fails or is full, the Writer repairs the file as
// Append would, and every later call returns the error.
//
// # Damage
//
// A Writer hashes the bytes of its file as it writes them. The hash of everything
// before a [Mark] belongs in a checkpoint: Options.Resume reads the file again
// and refuses a difference. The hash of the whole file belongs in the summary of
// the scan, with which Verify compares the file. The hash is xxHash64, as
// xxhsum -H64 prints it. It reveals damage, not forgery.
//
// A Reader passes over damage, and counts it: a zstd frame whose checksum is
// wrong, or a line that is not JSON.
package sink
