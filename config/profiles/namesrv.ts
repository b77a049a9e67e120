import { namesrvManifest as remoting } from '../../plugins/remoting/index.js';
import { manifest as routes } from '../../plugins/routes/index.js';

/** The name server. */
export const namesrv = [remoting, routes];
