package master_test

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// aMaster starts a simulated master on a loopback address, with eight servers on
// its list.
func aMaster() (m *fleet.Master, stop func()) {
	m, err := fleet.NewMaster(fleet.MasterConfig{Fleet: fleet.Config{
		Network: netip.MustParsePrefix("127.79.0.0/29"), Ports: []uint16{27404}, Seed: 36,
		Kinds: []fleet.Kind{fleet.Source},
	}})
	if err == nil {
		err = m.Listen()
	}
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Serve(ctx) }()
	return m, func() {
		cancel()
		<-done
	}
}

// Fetch a list from a master server; aMaster starts a simulated one.
func ExampleFetch() {
	m, stop := aMaster()
	defer stop()
	filter, err := master.ParseFilter(`\empty\1\nor\2\map\pl_badwater\proxy\1`)
	if err != nil {
		fmt.Println(err)
		return
	}
	stats, err := master.Fetch(context.Background(), master.Config{
		UDP:    m.UDPAddr(),
		Region: master.World,
		Filter: filter,
	}, func(s *master.Server) error {
		fmt.Println(s.Addr)
		return nil
	})
	fmt.Println(stats.Servers, stats.End, err)
	// Output:
	// 127.79.0.0:27404
	// 127.79.0.2:27404
	// 127.79.0.3:27404
	// 127.79.0.5:27404
	// 127.79.0.6:27404
	// 5 the list is complete <nil>
}
