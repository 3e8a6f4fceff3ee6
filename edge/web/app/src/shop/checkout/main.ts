import { open } from '../../shared/open';
import CheckoutPage from './CheckoutPage.svelte';

open(CheckoutPage, { slug: location.pathname.split('/')[2]! });
