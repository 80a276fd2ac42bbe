// Copyright 2026 The av_fusion authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace av_fusion {

/// How accumulated evidence becomes a probability; fitted on data that did not train the network.
struct LagCalibration {
  double evidence_scale = 1;      ///< > 0; multiplies the summed logits of a short stretch
  double correlated_ticks = 1e9;  ///< > 0; the scale is divided by 1 + n / this for n ticks
  double outlier_share = 0.01;    ///< 0 to 1; probability spread evenly over all lags
  double match_scale = 1;         ///< slope of `LagPosterior::match_log_odds` over the contrast
  double match_bias = 0;          ///< and its value without contrast
  double match_ticks = 150;       ///< > 0; more ticks than this hardly add to the log-odds
};

}  // namespace av_fusion
