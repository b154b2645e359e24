/* How the search of these pages ranks: pages of what to do before records, figures and the history. */
var Scorer = {
  score: ([page, , , , score]) => {
    if (/^(start|dask|networkx|howto\/|kernels$|parquet|one_word|studying)/.test(page)) return score + 10;
    if (/^(decisions|benchmarks|causes|changelog|contributing)/.test(page)) return score - 10;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
