/**
 * RESUME_CHECK_HALF_MESSAGE (323), admin->broker.
 *
 *   request (4.9: ResumeCheckHalfMessageRequestHeader)
 *     msgId  string   optional
 */
import { header, optionalString, type HeaderOf } from './header.js';

const request = header('ResumeCheckHalfMessageRequestHeader', {
  msgId: optionalString,
});

export type ResumeCheckHalfMessageRequestHeader = HeaderOf<typeof request>;
export const decodeResumeCheckHalfMessage = request.decode;
export const encodeResumeCheckHalfMessage = request.encode;
