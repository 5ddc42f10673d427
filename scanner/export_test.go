package scanner

// RaceEnabled says that the race detector, which allocates itself, is on.
const RaceEnabled = raceEnabled

// Transport is the network as the loop sees it, for tests outside the package.
type Transport = transport

// Over returns cfg with a network of the test's own, and with so few results
// waiting that memory has grown soon.
func (cfg Config) Over(t Transport) Config {
	cfg.transport, cfg.unhandled = t, 2*blockLen
	return cfg
}
