import type { InjectionToken } from 'tsyringe';
import type { Clock as ClockType } from './base/clock.js';
import type { Logger as LoggerType } from './base/logger.js';
import type { Progress as ProgressType } from './base/progress.js';
import type { Options as OptionsType } from '../config/options.js';

/** Interface and token share a name: `@inject(Clock) clock: Clock`. The kernel registers these before any plugin. */
export type Clock = ClockType;
export const Clock: InjectionToken<Clock> = Symbol('Clock');
export type Logger = LoggerType;
export const Logger: InjectionToken<Logger> = Symbol('Logger');
export type Options = OptionsType;
export const Options: InjectionToken<Options> = Symbol('Options');
export type Progress = ProgressType;
export const Progress: InjectionToken<Progress> = Symbol('Progress');
