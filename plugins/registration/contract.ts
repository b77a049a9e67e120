import type { InjectionToken } from 'tsyringe';

/** How the last registration at one name server went. */
export interface RegistrationResult {
  /** `host:port`, or what the configuration says while the port is not known yet. */
  readonly namesrv: string;
  readonly ok: boolean;
  /** Why it failed; empty when it did not. */
  readonly problem: string;
  /** For a slave: where its master is, when the master is registered. */
  readonly masterAddr: string | undefined;
  readonly haServerAddr: string | undefined;
}

/** This broker's registration at its name servers. */
export interface Registration {
  /** Registers everywhere, whatever the data version; resolves with every name server's result and never rejects. */
  registerNow(): Promise<readonly RegistrationResult[]>;
  /** In the order of `namesrvAddr`; a name server that was never tried is missing. */
  readonly lastResults: readonly RegistrationResult[];
}
export const Registration: InjectionToken<Registration> = Symbol('Registration');
