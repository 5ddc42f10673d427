package game

import "slices"

// portPair is a game's usual pair of ports: players join at one, and queries go to the
// other. A join port of 0 means that the game has no usual join port.
type portPair struct{ join, query uint16 }

// portPairs are the rows of docs/GAMES.md section 3 whose query port is a number.
var portPairs = []portPair{
	{28015, 28016}, {28015, 28017}, // Rust
	{2302, 2303},                // Arma 3
	{2302, 2305}, {2302, 27016}, // DayZ
	{27102, 27131}, // Insurgency: Sandstorm
	{27015, 27016}, // Euro Truck Simulator 2, The Forest, Barotrauma, Unturned
	{8766, 27016},  // Sons of the Forest
	{8777, 27015},  // Soulmask
	{17777, 27015}, // Icarus
	{9876, 9877},   // V Rising
	{2456, 2457},   // Valheim
	{7787, 27165},  // Squad
	{5761, 57561},  // Atlas
	{30000, 30001}, // Empyrion
	{8777, 27020},  // America's Army: Proving Grounds
	{7777, 27015},  // Mordhau, PixARK, EXFIL, Red Orchestra 2, Conan Exiles
	{0, 27020},     // Avorion
	{0, 27016},     // Don't Starve Together
	{0, 15637},     // Enshrouded
	{0, 1235},      // Core Keeper
	{0, 17777},     // Arma Reforger
}

// QueryPorts returns the ports that may be the query port of a server. Its argument is the
// join port, at which the players of this server join. It returns each port once, the most
// likely first: the join port itself, the query ports of the games with this join port,
// the neighbours of the join port at a distance of 1 and 10, the query ports of all other
// games, and 27000 to 27050, where Steam's servers usually are (docs/GAMES.md section 3).
func QueryPorts(join uint16) []uint16 {
	var ports []uint16
	add := func(port int) {
		if p := uint16(port); port > 0 && port <= 65535 && !slices.Contains(ports, p) {
			ports = append(ports, p)
		}
	}
	add(int(join))
	for _, pair := range portPairs {
		if pair.join == join {
			add(int(pair.query))
		}
	}
	for _, distance := range []int{1, -1, 10, -10} {
		add(int(join) + distance)
	}
	for _, pair := range portPairs {
		add(int(pair.query))
	}
	for port := 27000; port <= 27050; port++ {
		add(port)
	}
	return ports
}
