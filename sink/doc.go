// Package sink writes census files, and reads them back.
//
// A census is NDJSON: one line for each server, no header and no trailer, plain
// or compressed with zstd or gzip. Several census files, concatenated, form one census.
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
// To read a census, [Open] a [Reader] and call Next until io.EOF.
//
// An Output copies what it needs before Write returns. It returns its first error again from
// each later call, so it is enough to check the error of Commit. A line that a Reader returns
// is valid until the next call.
//
// # Durability
//
// With Options.Replace the new census is written to a new file beside the old one. The name
// of the new file is the old name with [disk.PartSuffix] at its end. Commit renames the new
// file to the old name. So the old name always refers to the complete old census or to the
// complete new one, even after a crash. A part, too, has its final name only when it is
// complete.
//
// When Sync or Close returns no error, every record written before the call is in its
// file, and the disk was told to store it. Between two Syncs, records reach the file when
// a block in memory is full, and at intervals of Options.FlushEvery. Close also checks the
// name and the length of the file, because another program may have removed, renamed or
// truncated it.
//
// A zstd file is a sequence of frames, and a frame is a sequence of blocks. Other programs can
// read complete frames only; a Reader also reads the blocks of a frame without an end. A frame
// ends with Sync, at 8 MiB of records, or when a flush finds that it is 10 seconds old.
//
// A process that is killed may leave a partial line at the end of a plain file, and a
// frame without its end in a compressed file. A Reader returns every complete line;
// Damage.Truncated has the length of the rest. Options.Append removes the rest. If the
// last frame has no end, Append also rewrites its lines as a complete frame, so that other
// programs can read the complete file. Options.Resume truncates the file to the position
// of a checkpoint. When a write fails, for example because the disk is full, the Output
// tries to repair the file as Append would.
//
// # Damage
//
// An Output hashes the bytes of a regular file as it writes them. A checkpoint stores the
// hash of everything before a [Mark]: with Options.Resume, Open reads the file again and
// returns [ErrChanged] if the hash differs. The summary of a scan has the hash of the
// complete file, and a2sscan verify compares the file with it. The hash is xxHash64, as
// xxhsum -H64 prints it. It detects damage, not forgery.
//
// A Reader skips damage and counts it: a compressed frame whose checksum is wrong, or a
// line that is not JSON. It does not parse the lines of zstd frames whose checksums are
// correct, unless a frame begins inside a line or the lines have bytes that are not from
// a2sscan. It returns the lines of a gzip member before it can compare the checksum.
package sink
