package compare

import (
	"context"
	"encoding/binary"
	"net/netip"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink/census"
)

// ReadTargets reads the list that the scan of a census was given. ports are the
// ports of networks and bare addresses in it.
func ReadTargets(files []string, ports string) (*census.TargetList, error) {
	if len(files) > 1 {
		return nil, console.Fail(console.ExitUsage, "--targets takes one list").
			WithHint("a scan of several lists: scan --unanswered proves who was asked")
	}
	all, err := list.NewExclusions(true, nil, nil, nil)
	if err != nil {
		return nil, inputs.ExclusionFailure(err)
	}
	cfg := list.Config{Exclusions: all, InOrder: true}
	if cfg.Sources, cfg.Args, err = inputs.Objects(files); err != nil {
		return nil, err
	}
	if ports != "" {
		if cfg.Ports, err = list.ParsePorts(ports); err != nil {
			return nil, console.Fail(console.ExitUsage, "--port: %w", err)
		}
	}
	l, err := list.Open(cfg)
	if err != nil {
		return nil, inputs.LoadFailure(err)
	}
	if err := l.Load(context.Background()); err != nil {
		return nil, inputs.LoadFailure(err)
	}
	known := map[uint64]struct{}{}
	for target := range l.From(0) {
		known[keyOf(target.Addr)] = struct{}{}
	}
	if err := l.Err(); err != nil {
		return nil, censusfile.Failure(err)
	}
	return &census.TargetList{
		SHA256: l.Inputs()[0].SHA256, Targets: uint64(len(known)),
		Contains: func(target netip.AddrPort) bool { _, ok := known[keyOf(target)]; return ok },
	}, nil
}

// keyOf packs a target into 48 bits: a list may have millions.
func keyOf(a netip.AddrPort) uint64 {
	ip := a.Addr().As16()
	return uint64(binary.BigEndian.Uint32(ip[12:]))<<16 | uint64(a.Port())
}
