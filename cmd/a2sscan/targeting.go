package main

import (
	"net/netip"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flags"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scan"
	"github.com/a2sscan/a2sscan/scanner"
)

// targetingFlags are the flags that scan and watch share.
type targetingFlags struct {
	to    *scan.Targeting
	lists []string
	set   *pflag.FlagSet
}

// add adds the flags to cmd, except --rate. The help of --resolve uses the verb, such as
// "query", for what the command does with addresses.
func (f *targetingFlags) add(cmd *cobra.Command, to *scan.Targeting, verb string) {
	fs := cmd.Flags()
	f.to, f.set = to, fs
	fs.StringVarP(&to.Ports, "port", "p", "", "`LIST` of ports for networks, and for addresses without a port, such as 27015,27020-27030 (default: 27015 for an address, none for a network)")
	fs.StringArrayVarP(&f.lists, "list", "l", nil, "read targets from `FILE`; may be repeated (also -iL)")
	fs.BoolVar(&to.Resolve, "resolve", false, "also look up host names in lists, and "+verb+" all their IPv4 addresses")
	to.AddressRate = scanner.DefaultAddressRate
	fs.Var(&to.AddressRate, "per-address-rate", "send at most `N` datagrams per second to one address; 0: no limit")
	addTimeouts(fs, &to.Timeout, &to.Retries)
	addSource(fs, &to.Source)
	fs.StringSliceVar(&to.Exclude.Networks, "exclude", nil,
		"send nothing to `NETS`: addresses, networks or ranges such as 203.0.113.5-203.0.113.20, separated by commas; may be repeated")
	fs.StringArrayVar(&to.Exclude.Files, "exclude-file", nil,
		"send nothing to the networks in `FILE`, one per line with the reason after a #; may be repeated; SIGHUP makes the scan read FILE again")
	fs.BoolVar(&to.Exclude.AllowReserved, "allow-reserved", false,
		"also query addresses in special-purpose networks (private, loopback, documentation …)")
	fs.StringVar(&to.From.Where, "master", "", "first fetch a list of targets; web: from the Steam Web API; a URL: from another Web API; `HOST:PORT`: from this master server")
	addMasterFlags(fs, &to.From)
}

func (f *targetingFlags) check() error {
	for _, name := range ofMasters {
		if f.set.Changed(name) && f.to.From.Where == "" {
			return console.Fail(console.ExitUsage, "--%s needs --master", name).
				WithHint("add --master, such as --master web: --%s is only for lists from a master", name)
		}
	}
	return checkTimeouts(&f.to.Timeout, f.to.Retries)
}

func addSource(fs *pflag.FlagSet, to *netip.AddrPort) {
	fs.Var(&flags.Value[netip.AddrPort]{To: to, Parse: flags.ParseSource, Word: "ADDR[:PORT]"}, "source",
		"address of this machine to send from (default: the system chooses)")
}
