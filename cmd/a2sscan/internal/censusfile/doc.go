// Package censusfile reads and writes census files for commands.
//
//	files, standard input ──▶ sink.Pipe ──▶ a command's function, line by line, in order
//	                             │
//	                             └─▶ Lost: partial tails, damage, missing parts; their exit codes
//
//	records ──▶ Destination ──▶ sink.Output      path, format and fields, as the flags say
//	               └─▶ Table                     aligned lines, CSV, TSV, or JSON with chosen fields
//
// [Print] is the command cat. [Verify] and [Check] compare files with their summaries.
// [Merge] makes one census from the shards of a scan, after it has proved that the shards
// belong together. [Databases] know where an address is, and who owns its network.
package censusfile
