package list

// ownFormats are the formats that this package reads beside text, in the order
// in which they are tried.
var ownFormats = []Format{ndjson, tabList, commaList, semiList}
