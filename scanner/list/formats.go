package list

// ownFormats are the formats that this package reads in addition to text, in the
// order in which it tries them.
var ownFormats = []Format{ndjson, tabList, commaList, semiList}
