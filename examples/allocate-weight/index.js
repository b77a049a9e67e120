import { defineAllocation } from 'mqkernel/plugin';

/**
 * An allocation rule in plain JavaScript: members on bigger machines take more queues.
 *
 *     npx kernel consume -t Order -g billing --allocate ./examples/allocate-weight/index.js:10.0.0.7=3,10.0.0.8=2
 *
 * Client ids begin with the client's address; those that begin with none of the given weigh 1. Every member decides for itself,
 * so all of them need the same weights.
 */
export default defineAllocation('weight', (options) => {
  const weights = options === '' ? [] : options.split(',').map(weightOfText);

  function weightOf(clientId) {
    return weights.find(({ prefix }) => clientId.startsWith(prefix))?.weight ?? 1;
  }

  return {
    name: 'WEIGHT',

    /** The queues as a line, cut where the weights say; all members calculate the same cuts. */
    allocate(_group, clientId, queues, clientIds) {
      const index = clientIds.indexOf(clientId);
      if (index < 0) return [];
      const sum = (ids) => ids.reduce((total, id) => total + weightOf(id), 0);
      const cut = (members) => Math.round((queues.length * sum(clientIds.slice(0, members))) / sum(clientIds));
      return queues.slice(cut(index), cut(index + 1));
    },
  };
});

function weightOfText(text) {
  const [, prefix, weight] = /^(.+)=([1-9]\d{0,3})$/.exec(text.trim()) ?? [];
  if (prefix === undefined) throw new RangeError(`"${text}" is not ADDRESS=WEIGHT with a weight within 1 … 9999`);
  return { prefix, weight: Number(weight) };
}
