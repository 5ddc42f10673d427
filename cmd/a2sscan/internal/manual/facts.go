package manual

import (
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// This file holds what the pages say besides the help. Flags, commands and examples come
// from the commands themselves.

// date is when this file was last changed.
const date = "2026-11-21"

// Fact is a line of a list: a file, a variable, a signal.
type Fact struct{ What, Text string }

// commandFacts are what the page of a command says besides its help.
type commandFacts struct {
	exits   map[int]string // codes that the command may have, with their meaning if it differs from the usual one
	files   []Fact
	signals []Fact
}

// exitAlways are the codes that every command may end with.
var exitAlways = []int{console.ExitOK, console.ExitUsage, console.ExitOutput, console.ExitPipe}

// facts are the facts of each command.
var facts = map[string]commandFacts{
	"a2sscan": {files: []Fact{
		{"/etc/a2sscan/scan.toml", "how the nightly service of the packages scans; no file is read that --config does not name"},
		{"/etc/a2sscan/servers.txt", "the list that it scans"},
	}},
	"scan": {
		exits: map[int]string{
			console.ExitInterrupted: "", console.ExitInput: "", console.ExitCheckpoint: "", console.ExitNumbers: "",
			console.ExitGuard: "stopped by --min-hitrate, --max-send-errors or --max-runtime",
		},
		files: []Fact{
			{"PATH", "the records, where --output says; it is made just before the first packet"},
			{"PATH.summary.json", "the numbers of the run, unless --summary names another file: see SUMMARY; with --rotate it is NAME-START.summary.json"},
			{"NAME-START-NNNNN.ndjson.zst", "a part of a census with --rotate; the one that is being written ends with .part"},
			{"CHECKPOINT", "where the scan stands, with --checkpoint; gone when the scan is complete"},
			{"CHECKPOINT.lock", "who uses the checkpoint"},
			{"CHECKPOINT.silent", "targets that wait for their second look"},
			{"CHECKPOINT.tmp", "the next checkpoint, while it is written"},
		},
		signals: []Fact{
			{"SIGINT, SIGTERM", "the first ends the scan when what is open is finished; the second writes what is there and ends at once"},
			{"SIGUSR1, SIGUSR2", "turn the rate up and down by a tenth, where --rate is not 0"},
			{"SIGQUIT", "says how the scan stands, and goes on"},
			{"SIGHUP", "reads the files of --exclude-file again; without that flag it is a first SIGINT, unless it is ignored (nohup)"},
			signalPipe,
		},
	},
	"master": {
		exits:   map[int]string{console.ExitInterrupted: "", console.ExitInput: "the list is empty or not whole, or the key can't be read"},
		files:   []Fact{{"PATH", "the list, where --output says"}},
		signals: []Fact{{"SIGINT, SIGTERM, SIGHUP", "the first leaves what was fetched; the second ends the program"}, signalPipe},
	},
	"demo": {
		exits: map[int]string{console.ExitInterrupted: "", console.ExitInput: "", console.ExitNumbers: "a record is not what the server is"},
		files: []Fact{{"a2sscan-demo.ndjson.zst", "the records, replaced by every demo"}},
		signals: []Fact{{"SIGINT, SIGTERM", "the first ends the scan when what is open is finished; the second at once"},
			{"SIGHUP", "is a first SIGINT, unless it is ignored (nohup)"}},
	},
	"fleet": {
		exits: map[int]string{
			console.ExitUsage: "the command line makes no sense, or with --compare not all servers are as they were",
			console.ExitInput: "",
		},
		signals: []Fact{{"SIGINT, SIGTERM, SIGHUP", "end the fleet, with exit code 0"}},
	},
	"ask": {
		exits: map[int]string{
			console.ExitOK:          "all that was asked was answered whole",
			console.ExitUsage:       "nothing could be sent, or the command line makes no sense",
			console.ExitInterrupted: "",
			console.ExitInput:       "not all that was asked was answered whole",
		},
		signals: []Fact{{"SIGINT, SIGTERM, SIGHUP", "the first ends the asking, with what was seen so far; the second ends the program"}},
	},
	"decode": {exits: map[int]string{
		console.ExitUsage: "the command line makes no sense, or with --check not all records come out the same",
		console.ExitInput: "",
	}},
	"cat": {exits: map[int]string{
		console.ExitInput: "", console.ExitNumbers: "a census is damaged: not all of its records could be read",
	}},
	"verify": {
		exits: map[int]string{console.ExitInput: "", console.ExitNumbers: "the census is damaged, or not complete"},
		files: []Fact{{"CENSUS.summary.json", "the numbers of the scan, unless --summary names another file; with --rotate it is NAME-START.summary.json"}},
	},
	"doctor": {exits: map[int]string{
		console.ExitOK: "the machine is ready, with warnings too", console.ExitGuard: "something is bad",
		console.ExitInput: "a configuration file can't be read",
	}},
}

var signalPipe = Fact{"SIGPIPE", "is ignored: a closed pipe is an error of writing, exit code 3, since results are lost"}

// configText explains configuration files.
const configText = `What is typed again and again can stand in a file, which --config names. It is TOML. Keys are the names of flags, without dashes; each command has a table of its name:

  # for every command that has such a flag
  source = "192.0.2.10"

  [scan]
  targets = ["servers.txt"]
  rate = "20k"
  query = ["info", "players"]
  exclude-file = "optout.txt"

  [doctor]
  rate = "20k"

Keys before the first table are for every command that has such a flag, and what stands in the table of a command wins over them. A flag that is typed wins over the file. Flags that may be repeated add to it: what the file excludes stays excluded.

A value is what the flag takes, as text or as number; true gives a flag without a value. The value of a flag that takes a list may be an array, and so may that of a flag that may be repeated; an array of arrays repeats a flag that takes a list. targets stands for the arguments of scan; if targets are typed, those of the file are not asked.

Paths are relative to the working directory, not to the file. A key that no command understands, in whichever table, or a value that the flag does not take, ends the run with exit code 1 before anything is sent; a file that can't be read, with 6. --help, --config, --print-config and --fresh are for the command line only, and the key of the Web API has no place in a file.

With --print-config a command prints what holds and whence, as a file that can be read again, and does nothing else.`

// statusText explains --status json.
const statusText = `With --status json a line of standard error that does not begin with "a2sscan:" is an object: one at the begin of a scan, one each second, and one at its end. Keys may be added; one whose value is not known is absent. Numbers are of this part of a scan that was resumed, but for part.`

// StatusKeys are the keys of a line of --status json, in their order.
var StatusKeys = []Fact{
	{"time, scan", "when it was said, in UTC, and the name of the scan"},
	{"phase", "reading, counting (of a dry run), asking or ended"},
	{"ended", "why it ended, as in the summary"},
	{"targets", "targets so far, while they are read"},
	{"part", "the part of the scan that is done, 0 to 1"},
	{"left", "seconds to the end, about"},
	{"elapsed", "seconds since the first datagram"},
	{"finished, answered", "targets that are finished, and those of them that answered"},
	{"open", "targets that are being asked"},
	{"held", "targets held back by the limit of their address"},
	{"silent", "targets that wait for their second look"},
	{"sent, received", "datagrams"},
	{"sent_rate, received_rate", "datagrams a second since the line before"},
	{"rate", "datagrams a second asked for; null: as fast as it goes"},
	{"drops", "datagrams that the kernel threw away"},
	{"send_errors", "datagrams that could not be sent"},
	{"bytes", "bytes of replies held"},
	{"waiting", "what new targets wait for, in the words of rate_limited_by in the summary"},
	{"waiting_for", "seconds that this takes, about"},
}
