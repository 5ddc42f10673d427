package main

// removedFlag says what replaces a flag of an earlier version.
type removedFlag struct {
	instead string // what to use instead, as a hint
	matters bool   // the flag changed targets or rate, so a configuration file that sets it is refused
}

// removed holds the flags of earlier versions that have left, by "command --flag", by
// "master and scan --flag", or by "--flag" if every command had it. A command line that uses one of them ends with exit
// code 1. A configuration file that sets one is refused if the flag matters; otherwise
// it gets a warning.
var removed = map[string]removedFlag{
	"--print-config": {instead: "the summary of a scan lists the flags that a file set, under config; scan --dry-run tries a file"},

	"ask --watch": {instead: "a2sscan watch reports what changes; watch -n 5 a2sscan ask ADDR --brief repeats the verdict"},

	"cat --json": {instead: "use --format json"},

	"diff --port":      {instead: "a scan with --unanswered records the silent servers, so that diff knows who was asked"},
	"diff --targets":   {instead: "a scan with --unanswered records the silent servers, so that diff knows who was asked"},
	"report --port":    {instead: "a scan with --unanswered records the silent servers, so that report knows who was asked"},
	"report --targets": {instead: "a scan with --unanswered records the silent servers, so that report knows who was asked"},

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

	"master and scan --address":         {instead: `--filter '\gameaddr\IP:PORT'`, matters: true},
	"master and scan --any-game-data":   {instead: `--filter '\gamedataor\TAGS'`, matters: true},
	"master and scan --dedicated":       {instead: `--filter '\dedicated\1'`, matters: true},
	"master and scan --empty":           {instead: `--filter '\noplayers\1'`, matters: true},
	"master and scan --game-data":       {instead: `--filter '\gamedata\TAGS'`, matters: true},
	"master and scan --game-dir":        {instead: `--filter '\gamedir\NAME'`, matters: true},
	"master and scan --game-type":       {instead: `--filter '\gametype\TAGS'`, matters: true},
	"master and scan --game-version":    {instead: `--filter '\version_match\PATTERN'`, matters: true},
	"master and scan --linux":           {instead: `--filter '\linux\1'`, matters: true},
	"master and scan --log-format":      {instead: "the log is text: one line of key=value pairs (logfmt) per event"},
	"master and scan --log-level":       {instead: "the log has every notable event: filter it by level=WARN or level=ERROR"},
	"master and scan --map":             {instead: `--filter '\map\NAME'`, matters: true},
	"master and scan --master-max-wait": {instead: `omit it: the longest wait is 61 s over UDP, 5 m for the Web API`},
	"master and scan --master-rate":     {instead: `omit it: the limits of the masters are observed`},
	"master and scan --master-retries":  {instead: `omit it: an unanswered request is repeated 3 times over UDP, 4 times to the Web API`},
	"master and scan --master-timeout":  {instead: `omit it: an answer may take 3 s over UDP, 1 m from the Web API`},
	"master and scan --name":            {instead: `--filter '\name_match\PATTERN'`, matters: true},
	"master and scan --nand":            {instead: `--filter '\nand\2\map\NAME\noplayers\1'`, matters: true},
	"master and scan --no-password":     {instead: `--filter '\password\0'`, matters: true},
	"master and scan --nor":             {instead: `--filter '\nor\2\map\NAME\noplayers\1'`, matters: true},
	"master and scan --not-app":         {instead: `--filter '\napp\ID'`, matters: true},
	"master and scan --not-full":        {instead: `--filter '\full\1'`, matters: true},
	"master and scan --one-per-address": {instead: `--filter '\collapse_addr_hash\1'`, matters: true},
	"master and scan --or":              {instead: `--filter '\or\2\appid\440\appid\730'`, matters: true},
	"master and scan --proxy":           {instead: `--filter '\proxy\1'`, matters: true},
	"master and scan --secure":          {instead: `--filter '\secure\1'`, matters: true},
	"master and scan --type":            {instead: `--filter '\type\d'`, matters: true},
	"master --web":                      {instead: `omit it: the Web API is the default`},
	"master and scan --whitelisted":     {instead: `--filter '\white\1'`, matters: true},

	"master --raw": {instead: "the pages of a master server only have addresses, which master writes as text"},

	"merge --origins": {instead: "a2sscan diff compares what two places in the network see"},

	"scan --all-hashes": {instead: "the hash of players is always recorded; the other answers are in the record, or with --raw byte by byte"},
	"scan --color":      {instead: "NO_COLOR=1 in the environment, or a2sscan cat --color"},
	"scan --farms":      {instead: "a2sscan stats CENSUS lists the farms of a census"},
	"scan --json":       {instead: "use --format json"},
	"scan --no-stats":   {instead: "omit it: only a2sscan stats writes the stats of a census"},
	"scan --rate-max":   {instead: "--rate auto:20k finds the rate, up to 20k", matters: true},
}

// wasFlag returns the entry of a flag that the command had in an earlier version.
func wasFlag(command, flag string) (removedFlag, bool) {
	for _, of := range []string{command + " ", "master and scan ", ""} {
		was, ok := removed[of+"--"+flag]
		if ok && (of != "master and scan " || command == "master" || command == "scan") {
			return was, true
		}
	}
	return removedFlag{}, false
}
