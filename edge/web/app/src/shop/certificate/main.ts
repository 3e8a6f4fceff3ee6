import { open } from '../../shared/open';
import CertificatePage from './CertificatePage.svelte';

open(CertificatePage, {});
