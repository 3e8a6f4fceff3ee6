package nodetest

// FactsPath is the path of the pull feed of public facts.
const FactsPath = "/organizer/facts"
