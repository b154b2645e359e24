// Where the search puts pages: those that explain why and how fast stand below those that say how.
var Scorer = {
  score: ([page, title, anchor, description, score]) =>
    /^(decisions|benchmarks)\/|^(causes|changelog)$/.test(page) ? score - 30 : score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
