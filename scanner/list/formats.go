package list

// ownFormats are the kinds of lists that this package knows beside text, in the
// order in which they are tried.
func ownFormats(*Config) []Format { return []Format{ndjson, tabList, commaList, semiList} }
