// mocha's spec output, and the totals as JSON in the file that COUNTS_FILE names: .ci/run adds them up and names again what failed.
'use strict';
const { writeFileSync } = require('node:fs');
const { Runner, reporters } = require('mocha');

class CountReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const failed = [];
    runner.on(Runner.constants.EVENT_TEST_FAIL, (test, error) =>
      failed.push(`${test.fullTitle()}: ${String(error.message).split('\n')[0]}`),
    );
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = this.stats;
      if (process.env.COUNTS_FILE)
        writeFileSync(process.env.COUNTS_FILE, JSON.stringify({ passes, failures, pending, failed }));
    });
  }
}

module.exports = CountReporter;
