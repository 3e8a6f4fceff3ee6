package nodetest

const FactsPath = "/organizer/facts"
