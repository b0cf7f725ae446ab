/** What the service refuses, by its code. */

export const problems = {
};
