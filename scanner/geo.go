package scanner

// Geo is where an address is, and who owns it, as a database of such things
// says. A scan does not know: whoever takes its Results may look it up. Fields
// that are zero are not known. Texts are the database's, and as hostile as any.
type Geo struct {
	Continent string // AF, AN, AS, EU, NA, OC or SA
	Country   string // two capital letters, by ISO 3166-1; others are not written
	Region    string // the largest part of the country: a state, a province
	City      string // in English, where the database has it so
	ASN       uint32 // number of the autonomous system that announces the address
	Org       string // to whom that belongs
}
