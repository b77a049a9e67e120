import type { PluginManifest } from '../../kernel/plugin.js';
import { Registration } from './contract.js';
import { Registrar } from './registrar.js';

/** Tells the name servers where this broker is and which topics it has. Opens last, closes first. */
export const manifest: PluginManifest = {
  name: 'registration',
  needs: ['remoting', 'topics'],
  provides: [Registration],
  setup(container) {
    container.register(Registration, { useToken: Registrar });
  },
  main: Registrar,
};
