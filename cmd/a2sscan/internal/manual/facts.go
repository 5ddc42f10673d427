package manual

import (
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// This file holds the text of the pages that is not in the help. Flags, commands
// and examples come from the commands themselves.

// date is when this file was last changed.
const date = "2026-11-22"

// Fact is an entry of a list in a page: a file, a variable, a signal or a key.
type Fact struct{ What, Text string }

// commandFacts is the text of a command's page that is not in the command's help.
type commandFacts struct {
	exits   map[int]string // codes that the command may return, with their meanings; empty: the usual meaning
	files   []Fact
	signals []Fact
}

// exitAlways are the exit codes that every command may return.
var exitAlways = []int{console.ExitOK, console.ExitUsage, console.ExitOutput, console.ExitPipe}

// facts has the facts of each command under the last word of its path.
var facts = map[string]commandFacts{
	"a2sscan": {files: []Fact{
		{"/etc/a2sscan/scan.toml", "the configuration of the nightly service; a command reads a configuration file only if --config names it"},
		{"/etc/a2sscan/servers.txt", "the list that the nightly service scans"},
		{"s3://BUCKET/KEY", "an object in an S3-compatible store, wherever a command reads a census or a list, and as --output of scan, merge, export, report, stats and diff; s3://BUCKET/PREFIX/ stands for all census files, or all lists, below it"},
		{"~/.aws/credentials, ~/.aws/config", "credentials, region and endpoint of the store, if the environment has none"},
	}},
	"scan": {
		exits: map[int]string{
			console.ExitInterrupted: "", console.ExitInput: "", console.ExitCheckpoint: "", console.ExitNumbers: "",
			console.ExitGuard: "stopped by --min-hitrate, --max-send-errors or --max-runtime",
		},
		files: []Fact{
			{"PATH", "the records, at the path of --output; created just before the first packet"},
			{"PATH.summary.json", "the summary of the scan (see SUMMARY), unless --summary names another file; with --rotate it is NAME-START.summary.json"},
			{"NAME-START-NNNNN.ndjson.zst", "a part of a census, with --rotate; the part being written has the suffix .part"},
			{"NAME.spool", "the folder of the parts that are not uploaded yet, with --output s3://BUCKET/NAME, unless --spool names another folder; removed when the store has all parts"},
			{"CHECKPOINT", "the progress of the scan, with --checkpoint; removed when the scan is complete"},
			{"CHECKPOINT.lock", "the lock of the checkpoint"},
			{"CHECKPOINT.silent", "silent targets that wait for a second look"},
			{"CHECKPOINT.tmp", "the next checkpoint, while it is being written"},
		},
		signals: []Fact{
			{"SIGINT, SIGTERM", "after the first, the scan starts no new targets and ends when the open ones are finished; after the second, it writes the results so far and ends at once"},
			{"SIGUSR1, SIGUSR2", "raise and lower the rate by a tenth, unless --rate is 0 or auto"},
			{"SIGQUIT", "prints the progress of the scan, which continues"},
			{"SIGHUP", "reloads the files of --exclude-file; without that flag it acts like a first SIGINT; with nohup it is ignored"},
			signalPipe,
		},
	},
	"master": {
		exits:   map[int]string{console.ExitInterrupted: "", console.ExitInput: "the list is empty or incomplete, or the key can't be read"},
		files:   []Fact{{"PATH", "the list, at the path of --output"}},
		signals: []Fact{{"SIGINT, SIGTERM, SIGHUP", "the first stops fetching and keeps what was fetched; the second ends the program"}, signalPipe},
	},
	"demo": {
		exits: map[int]string{console.ExitInterrupted: "", console.ExitInput: "", console.ExitNumbers: "a record does not match its server"},
		files: []Fact{{"a2sscan-demo.ndjson.zst", "the records; each demo replaces the file"}},
		signals: []Fact{{"SIGINT, SIGTERM", "the first ends the scan when the open targets are finished; the second ends it at once"},
			{"SIGHUP", "acts like a first SIGINT; with nohup it is ignored"}},
	},
	"fleet": {
		exits: map[int]string{
			console.ExitUsage: "the command line is wrong, or with --compare some servers differ from the census",
			console.ExitInput: "",
		},
		signals: []Fact{{"SIGINT, SIGTERM, SIGHUP", "end the fleet, with exit code 0"}},
	},
	"ask": {
		exits: map[int]string{
			console.ExitOK:          "every question has a complete answer",
			console.ExitUsage:       "nothing could be sent, or the command line is wrong",
			console.ExitInterrupted: "",
			console.ExitInput:       "not every question has a complete answer",
		},
		signals: []Fact{{"SIGINT, SIGTERM, SIGHUP", "the first stops asking and reports what was seen so far; the second ends the program"}},
	},
	"decode": {exits: map[int]string{
		console.ExitInput:   "",
		console.ExitNumbers: "with --check: some records decode differently",
	}},
	"cat": {exits: map[int]string{
		console.ExitInput: "", console.ExitNumbers: "a census is damaged: some of its records could not be read",
	}},
	"verify": {
		exits: map[int]string{console.ExitInput: "", console.ExitNumbers: "the census is damaged or incomplete"},
		files: []Fact{{"CENSUS.summary.json", "the summary of the scan, unless --summary names another file; with --rotate it is NAME-START.summary.json"}},
	},
	"export": {exits: map[int]string{
		console.ExitInput: "", console.ExitOutput: "", console.ExitNumbers: "a census is damaged; nothing was written",
	}},
	"merge": {
		exits: map[int]string{console.ExitInput: "", console.ExitOutput: "", console.ExitNumbers: "the parts do not make one census: the message names the gap"},
		files: []Fact{
			{"PART.summary.json", "the summary of each part, which its scan wrote; with --rotate it is NAME-START.summary.json"},
			{"PATH.summary.json", "the summary of the merged census, unless --summary names another file"},
		},
	},
	"report": {
		exits: map[int]string{console.ExitInput: "", console.ExitNumbers: "a census is damaged: the page shows what could be read"},
		files: []Fact{
			{"CENSUS.summary.json", "the summary of the scan, unless --summary names another file; it says what the scan missed"},
			{"DIR/**.stats.json", "the stats of earlier nights, with --history"},
		},
	},
	"doctor": {exits: map[int]string{
		console.ExitOK: "the machine is ready, possibly with warnings", console.ExitGuard: "a check found something bad",
		console.ExitInput: "a configuration file can't be read",
	}},
}

var signalPipe = Fact{"SIGPIPE", "is ignored: if the reader closes the pipe, that is a write error with exit code 3, because results are lost"}

// configText explains configuration files in the page of the root command.
const configText = `--config FILE reads flags from a TOML file. Keys are the names of flags without the leading dashes; each command has a table with its name:

  # for every command with such a flag
  source = "192.0.2.10"

  [scan]
  targets = ["servers.txt"]
  rate = "20k"
  query = ["info", "players"]
  exclude-file = "optout.txt"

  [doctor]
  rate = "20k"

Keys before the first table apply to every command with such a flag; the table of a command overrides them. The command line overrides the file. If a flag may be repeated, its values on the command line are added to those in the file: what the file excludes stays excluded.

A value is written as on the command line, as a string or a number; true sets a flag that takes no value. A flag that takes a list, or may be repeated, accepts an array; for a flag that takes a list, an array of arrays repeats the flag. targets stands for the arguments of scan; targets on the command line replace those of the file.

Paths are relative to the working directory, not to the file. An unknown key in any table, or an invalid value, ends the run with exit code 1 before anything is sent; an unreadable file ends it with exit code 6. --help, --config and --fresh are allowed on the command line only, and the key of the Web API is not allowed in the file.

The key of a flag that has left the program is ignored with a warning, unless the flag changed the targets or the rate; then it is an error. The summary of a scan lists what a file has set, under config.`

// statusText explains --status json.
const statusText = `With --status json each line of standard error that does not begin with "a2sscan:" is a JSON object. The scan writes one at its start, one every second, and one at its end. New keys may be added; a key whose value is not known is absent. In a resumed scan, all numbers except part cover only this run.`

// StatusKeys are the keys of a line of --status json, in their order.
var StatusKeys = []Fact{
	{"time, scan", "when the line was written, in UTC, and the name of the scan"},
	{"phase", "reading, counting (in a dry run), asking or ended"},
	{"ended", "why the scan ended, as in the summary"},
	{"targets", "targets read or counted so far, in the phases reading and counting"},
	{"part", "the fraction of the scan that is done, from 0 to 1"},
	{"left", "estimated seconds to the end"},
	{"store", "with -o s3://…: parts that wait, their bytes, parts that have arrived, whether the scan is slowed down for the store, and the error of the last upload"},
	{"elapsed", "seconds since the first datagram"},
	{"finished, answered", "targets finished, and how many of them answered"},
	{"open", "targets that are being asked"},
	{"held", "targets held back by the rate limit of their address"},
	{"silent", "silent targets that wait for a second look"},
	{"sent, received", "datagrams"},
	{"sent_rate, received_rate", "datagrams per second since the previous line"},
	{"rate", "the requested rate in datagrams per second; null: no limit"},
	{"rate_found, path_carried", "with --rate auto, in datagrams per second: the current rate, and what the path carried when it was last full"},
	{"drops", "datagrams that the kernel dropped"},
	{"send_errors", "datagrams that could not be sent"},
	{"bytes", "bytes of buffered replies"},
	{"waiting", "what new targets wait for, in the words of rate_limited_by in the summary"},
	{"waiting_for", "the estimated duration of that wait in seconds"},
}
