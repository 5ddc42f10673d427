package game

// Conan Exiles: the keywords and the rules have the server's name in full,
// where INFO cuts it. The settings have codes for names (S05_b, Su_i) whose
// meaning the game does not publish; they stay among the rules.
var _ = register(&table{
	id:       "conan",
	name:     "Conan Exiles",
	apps:     []uint32{440900},
	evidence: "recorded replies of 2018",
	rules: []field{
		{name: "OWNINGNAME", read: attribute("name")},
		{name: "CSF_i", read: attribute("csf")},
	},
	finish: func(d *decoder) {
		// The name may have commas in it, but nothing that ends it.
		if name, ok := unrealTag(d.in.Info.Keywords, "OWNINGNAME:"); ok {
			d.setAttribute("name", name, "keywords.OWNINGNAME")
		}
	},
	vectors: []vector{
		{
			keywords: "BUILDID:1,OWNINGID:2,OWNINGNAME:Sand, Blood,P2PPORT:7777",
			want: `
				attribute name Sand, Blood < keywords.OWNINGNAME`,
		},
		{
			keywords: "OWNINGNAME:Sand",
			rules:    []string{"OWNINGNAME", "Sand and Blood", "S05_b", "true", "CSF_i", "0"},
			want: `
				attribute csf 0 < rules.CSF_i
				attribute name Sand and Blood < rules.OWNINGNAME`,
		},
	},
})
