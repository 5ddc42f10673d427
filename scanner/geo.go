package scanner

// Geo is the location and the owner of an address, from a database. A scan does not
// fill it in; the function that receives the Results may. Zero fields are unknown. The
// strings come from the database and are as untrusted as those of servers.
type Geo struct {
	Continent string // AF, AN, AS, EU, NA, OC or SA
	Country   string // two capital letters (ISO 3166-1); package sink writes no other values
	Region    string // the largest part of the country: a state, a province
	City      string // in English, if the database has it
	ASN       uint32 // number of the autonomous system that announces the address
	Org       string // the owner of the autonomous system
}
