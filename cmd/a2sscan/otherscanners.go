// This file is for users of other scanners. aliasOf and ourArguments replace flags of
// other scanners with our flags of the same meaning. For flags without such a replacement,
// ourFlag suggests what to use instead.

package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// aliasOf returns our name for a flag that other scanners spell differently.
func aliasOf(name string) string {
	switch name {
	case "blocklist-file", "blacklist-file", "excludefile":
		return "exclude-file"
	}
	return name
}

// ourArguments returns the command line with nmap's -iL replaced by --list. It returns an
// error for a flag of another scanner that a2sscan would misread, such as -oJ, which for
// a2sscan names an output file J.
func ourArguments(args []string) ([]string, error) {
	var all []string
	for i, arg := range args {
		if arg == "--" {
			return append(all, args[i:]...), nil
		}
		switch arg {
		case "-iL":
			arg = "--list"
		case "-oJ", "-oX", "-oN", "-oG", "-oA", "-oL", "-oD":
			return nil, console.Fail(console.ExitUsage, "%s is a flag of another scanner", arg).
				WithHint("use -o census.ndjson for JSON, or -o census.csv for CSV")
		case "-sU", "-sV", "-sn", "-Pn":
			return nil, console.Fail(console.ExitUsage, "%s is a flag of another scanner", arg).
				WithHint("omit the flag: a2sscan always queries over UDP, and never pings first")
		}
		all = append(all, arg)
	}
	return all, nil
}

// foreignFlags maps flags of zmap, massdns, nmap, naabu and masscan to our flags, or to
// advice.
var foreignFlags = map[string]string{
	// zmap
	"target-port": "--port", "target-ports": "--port", "output-file": "--output", "output-fields": "--fields",
	"output-module": "--format", "cooldown-time": "--cooldown", "source-ip": "--source", "interface": "--source",
	"shards": "--shard I/N", "max-runtime-secs": "--max-runtime", "list-of-ips-file": "--list", "allowlist-file": "--list",
	"whitelist-file": "--list", "status-updates-file": "--log-file", "metadata-file": "--summary", "probes": "--retries",
	"sender-threads": "--rate, because only one thread sends", "disable-syslog": "--log-file, because nothing goes to syslog",
	"min-hitrate-percent": "--min-hitrate",
	// massdns
	"outfile": "--output", "hashmap-size": "--in-flight", "resolve-count": "--retries", "processes": "--shard I/N, with one process per shard",
	"interval": "--timeout", "error-log": "--log-file", "busy-poll": "--rate to set the speed: a2sscan is fast without busy polling",
	// nmap
	"min-rate": "--rate", "max-rate": "--rate", "max-retries": "--retries", "host-timeout": "--timeout",
	"initial-rtt-timeout": "--timeout", "max-rtt-timeout": "--timeout", "open": "no flag: only servers that answer are written",
	"randomize-hosts": "no flag: the order is random", "source-port": "--source IP:PORT", "resume": "--checkpoint",
	"append-output": "--append", "top-ports": "--port", "stats-every": "--status",
	// naabu
	"host": "the address itself, without a flag", "silent": "--quiet", "exclude-hosts": "--exclude", "stats": "--status",
	"csv": "--format csv", "warm-up-time": "--cooldown", "source-address": "--source",
	// masscan
	"ports": "--port", "adapter-ip": "--source", "adapter-port": "--source IP:PORT", "wait": "--cooldown",
	"includefile": "--list", "output-filename": "--output", "output-format": "--format", "banners": "--query",
	"offline": "--dry-run", "echo": "--dry-run", "conf": "--config", "rotate-size": "--rotate", "pfring": "--rate 0",
	// several scanners
	"concurrency": "--in-flight", "c": "--in-flight (how many targets at a time) or --config (a file)", "threads": "--rate, because only one thread sends",
	"limit": "--max-targets (how many targets to query) or --max-results (how many servers must answer before the scan stops)", "no-color": "--color never",
}

// foreignElsewhere has advice for flags of other scanners. It is for commands that lack
// the flag that foreignFlags suggests, and for flags that foreignFlags does not have.
var foreignElsewhere = map[string]string{
	"limit":    "no flag: head -n N limits the number of lines",
	"sort":     "no flag: sort CSV with the program sort, and records with jq -s 'sort_by(.info.players)'",
	"no-color": "NO_COLOR=1 in the environment",
}

// ourFlag suggests what to use in place of another scanner's flag. It returns "" if there
// is no suggestion. It suggests only flags in names, which has the flags of the command.
func ourFlag(flag string, names []string) string {
	ours := foreignFlags[flag]
	if name, ok := strings.CutPrefix(ours, "--"); ok {
		name, _, _ = strings.Cut(name, " ")
		if !slices.Contains(names, strings.TrimSuffix(name, ",")) {
			ours = ""
		}
	}
	if ours = cmp.Or(ours, foreignElsewhere[flag]); ours == "" {
		return ""
	}
	return "in a2sscan, use " + ours
}
