import '../shared/style/base.css';
import './docs.css';
import { addKey } from './key';
import { addRun } from './run';
import { addSearch } from './search';
import { addSnippets } from './snippets';

addSearch();
if (document.getElementById('try')) {
  const snippets = addSnippets();
  addKey(snippets);
  addRun(snippets);
}
