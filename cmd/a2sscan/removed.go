package main

// removedFlag says what replaces a flag of an earlier version.
type removedFlag struct {
	instead string // what to use instead, as a hint
	matters bool   // the flag changed targets or rate, so a configuration file that sets it is refused
}

// removed holds the flags of earlier versions that have left, by "command --flag", or by
// "--flag" if every command had it. A command line that uses one of them ends with exit
// code 1. A configuration file that sets one is refused if the flag matters; otherwise
// it gets a warning.
var removed = map[string]removedFlag{
	"--print-config": {instead: "the summary of a scan lists what a file has set, under config; scan --dry-run tries a file"},

	"cat --json": {instead: "use --format json"},

	"doctor --source": {instead: "a scan with --source says at once if the address can't be used"},

	"fleet --append":             {instead: "--truth prints to standard output: use >> FILE"},
	"fleet --compare":            {instead: "a2sscan diff compares two censuses"},
	"fleet --duplicate":          {instead: "--loss and --delay simulate a bad network"},
	"fleet --force":              {instead: "--truth prints to standard output: use > FILE"},
	"fleet --list":               {instead: "scan the fleet's --network and --port"},
	"fleet --master-after":       {instead: "--master-faults affects every request"},
	"fleet --master-also":        {instead: "the master lists the fleet; append other servers to the list that a2sscan master writes"},
	"fleet --master-during":      {instead: "--master-faults affects every request"},
	"fleet --master-limit":       {instead: "--master-faults silent or --master-faults 429 simulates a master that refuses"},
	"fleet --master-retry-after": {instead: "--master-faults 429 asks to retry after a minute"},
	"fleet --output":             {instead: "--truth prints to standard output: use > FILE"},
	"fleet --query-limit":        {instead: "--loss and --delay simulate a bad network"},
	"fleet --reorder":            {instead: "--loss and --delay simulate a bad network"},
	"fleet --replay":             {instead: "a2sscan decode --check examines the datagrams of a census; the fleet simulates servers of --kinds and --games"},
	"fleet --scan-id":            {instead: "the records of --truth have no scan; a2sscan scan --scan-id names one"},

	"master --log-format": {instead: "the log is text: one line of key=value pairs (logfmt) per event"},
	"master --log-level":  {instead: "the log has every notable event: filter it by level=WARN or level=ERROR"},

	"scan --all-hashes": {instead: "the hash of players is always recorded; the other answers are in the record, or with --raw byte by byte"},
	"scan --farms":      {instead: "a2sscan stats CENSUS lists the farms of a census"},
	"scan --json":       {instead: "use --format json"},
	"scan --log-format": {instead: "the log is text: one line of key=value pairs (logfmt) per event"},
	"scan --log-level":  {instead: "the log has every notable event: filter it by level=WARN or level=ERROR"},
	"scan --no-stats":   {instead: "omit it: only a2sscan stats writes the stats of a census"},
}

// wasFlag returns the entry of a flag that the command had in an earlier version.
func wasFlag(command, flag string) (removedFlag, bool) {
	was, ok := removed[command+" --"+flag]
	if !ok {
		was, ok = removed["--"+flag]
	}
	return was, ok
}
