// This file is for users of other scanners: it replaces their flags with ours of the same
// meaning.

package main

import (
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
