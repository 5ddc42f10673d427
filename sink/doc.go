// Package sink writes census files, and reads them back.
//
// A census is NDJSON: one line for each server, no header and no trailer, plain
// or compressed with zstd or gzip. Concatenated census files are one census.
// Package [record] describes the lines.
//
// # Use
//
// To write a census, [Create] an [Output], pass the Results of scanner.Scan to its
// Write method as they arrive, and Commit it. Options.Rotate divides a census into
// parts by size or time.
//
//	w, err := sink.Create("census.ndjson.zst", sink.Options{})
//	stats, err := scanner.Scan(ctx, cfg, targets, func(r *scanner.Result) { w.Write("nightly", r) })
//	err = w.Commit()
//
// To read one, [Open] a [Reader] and call Next until io.EOF.
//
// An Output copies what it needs before Write returns. It remembers its first error,
// and all later calls return it, so that it is enough to check the error of Commit. A
// line that a Reader returns is valid until the next call.
//
// # Durability
//
// With Options.Replace the new census is written beside the old one, under its
// name with [disk.PartSuffix], until Commit renames it. So the name always refers to the
// complete old census or to the complete new one, even after a crash. The same holds
// for each part.
//
// When Sync or Close returns nil, every record written before it is in its file, and the
// disk was told to store it. Between two Syncs, records reach the file in blocks, after
// Options.FlushEvery at the latest. Close also makes sure that the file still has its
// name and its length: another program may have removed, renamed or
// truncated it.
//
// A compressed file is a sequence of zstd frames. A frame is a stream of blocks, each of
// which can be read as soon as it is in the file. Sync ends the frame, so that other
// programs can read the file up to there; otherwise a frame ends when it holds 8 MiB of
// records, or is 10 seconds old.
//
// A process that is killed leaves at most one partial line at the end of the
// file, and possibly a frame without its end. A Reader returns every complete line
// and the length of the rest. Options.Append removes the rest. If the last frame has
// no end, Append also rewrites its lines as a complete frame, so that other programs
// can read the complete file. Options.Resume truncates the file to the position of a
// checkpoint. When the disk fails or is full, the Output repairs the file as Append
// would, and every later call returns the error.
//
// # Damage
//
// An Output hashes the bytes of its file as it writes them. The hash of everything
// before a [Mark] belongs in a checkpoint: with Options.Resume, Open reads the file
// again and returns [ErrChanged] if the hash differs. The hash of the complete file
// belongs in the summary of the scan, with which a2sscan verify compares the file. The
// hash is xxHash64, as xxhsum -H64 prints it. It detects damage, not forgery.
//
// A Reader skips damage, and counts it: a zstd frame whose checksum is wrong, or a
// line that is not JSON.
package sink
